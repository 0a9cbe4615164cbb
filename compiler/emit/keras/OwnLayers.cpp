// Layers and functions that a program declares itself, because Keras's of the name compute something else or have no such
// argument.
#include "compiler/emit/keras/Writers.h"
#include "compiler/emit/python/Program.h"

namespace tbem::emit::keras {

namespace {

constexpr std::string_view kPadded = R"(

class Padded:
    """Puts zeros around images, as many as are given, at any stride."""

    def __init__(self, *sizes, padding=0, **options) -> None:
        super().__init__(*sizes, **options)
        self.zeros = layers.ZeroPadding2D(padding)

    def build(self, input_shape):
        super().build(self.zeros.compute_output_shape(input_shape))

    def call(self, inputs):
        return super().call(self.zeros(inputs))
)";

constexpr std::string_view kConv2D = R"(

class Conv2D(Padded, layers.Conv2D):
    pass
)";

constexpr std::string_view kDepthwiseConv2D = R"(

class DepthwiseConv2D(Padded, layers.DepthwiseConv2D):
    pass
)";

constexpr std::string_view kConv2DTranspose = R"(

class Conv2DTranspose(layers.Conv2DTranspose):
    """Leaves rows and columns at the sides of its result away."""

    def __init__(self, *sizes, cropping, **options) -> None:
        super().__init__(*sizes, **options)
        self.crop = layers.Cropping2D(cropping)

    def call(self, inputs):
        return self.crop(super().call(inputs))
)";

constexpr std::string_view kBatchNormalization = R"(

class BatchNormalization(layers.BatchNormalization):
    """Moves the variance towards the unbiased one of the batch."""

    def call(self, inputs, training=None):
        if not training:
            return super().call(inputs, training=False)
        x = ops.cast(inputs, keras.backend.result_type(inputs.dtype, "float32"))
        channels = self.axis % len(x.shape)
        axes = [axis for axis in range(len(x.shape)) if axis != channels]
        mean, variance = ops.moments(x, axes)
        count = ops.cast(ops.size(x) // ops.size(mean), x.dtype)
        unbiased = variance * count / (count - 1)
        for moving, now in (
            (self.moving_mean, mean),
            (self.moving_variance, unbiased),
        ):
            moving.assign(self.momentum * moving + (1 - self.momentum) * now)
        x = ops.batch_normalization(
            x, mean, variance, self.axis, self.beta, self.gamma, self.epsilon
        )
        return ops.cast(x, self.compute_dtype)
)";

constexpr std::string_view kAttention = R"(

class Attention(layers.Layer):
    """Scaled dot-product attention over the last two dimensions."""

    def __init__(self, causal: bool = False, dropout: float = 0.0) -> None:
        super().__init__()
        self.causal = causal
        self.dropout = layers.Dropout(dropout)

    def call(self, query, key, value, added=None, training=None):
        scores = ops.matmul(query, ops.swapaxes(key, -1, -2))
        scores = scores / query.shape[-1] ** 0.5
        if added is not None:
            scores = scores + added
        if self.causal:
            later = ops.triu(ops.ones(scores.shape[-2:], dtype="bool"), k=1)
            scores = ops.where(later, -1e16, scores)
        shares = self.dropout(ops.softmax(scores), training=training)
        return ops.matmul(shares, value)
)";

constexpr std::string_view kGelu = R"(

def gelu(x, approximate: bool = False):
    """GELU, of which TensorFlow has the numbers in single precision."""
    if approximate:
        return 0.5 * x * (1 + ops.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + ops.erf(x / 2**0.5))
)";

constexpr std::string_view kAveragePool = R"(

def average_pool(x, size, strides, padding):
    """The mean of what lies inside of the image in each window."""
    inside = ops.average_pool(ops.pad(ops.ones_like(x), padding), size, strides)
    return ops.average_pool(ops.pad(x, padding), size, strides) / inside
)";

}  // namespace

std::string ownLayers(std::string_view text) {
  const bool hasConv2D = readsModule(text, "Conv2D("), hasDepthwise = readsModule(text, "DepthwiseConv2D(");
  std::string own;
  if (hasConv2D || hasDepthwise) own += kPadded;
  if (hasConv2D) own += kConv2D;
  if (hasDepthwise) own += kDepthwiseConv2D;
  if (readsModule(text, "Conv2DTranspose(")) own += kConv2DTranspose;
  if (readsModule(text, "BatchNormalization(")) own += kBatchNormalization;
  if (readsModule(text, "Attention(")) own += kAttention;
  if (readsModule(text, "gelu(")) own += kGelu;
  if (readsModule(text, "average_pool(")) own += kAveragePool;
  return own;
}

}  // namespace tbem::emit::keras
