// The bias of a convolution or of a dense layer, where the library has not added it.
// y[outer, channels, inner] += bias[channels]; `elements` of y in all.
extern "C" __global__ void addBias(float* y, const float* bias, long long elements, long long channels, long long inner) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += step) {
    y[i] += bias[i / inner % channels];
  }
}
