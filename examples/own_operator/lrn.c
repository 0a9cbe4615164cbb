/* Local response normalisation across channels (Krizhevsky et al. 2012, section 3.3) and its gradient, for f32 and f64.
 *
 *   y[c] = x[c] * d[c]^-beta,  d[c] = k + alpha / size * sum over the window of c of x^2
 * The window of channel c holds the channels from c - size/2 to c + (size-1)/2 that exist. */
#include "tbem/native.h"

#include <math.h>
#include <stdio.h>

TBEM_NATIVE_LIBRARY

typedef struct {
  const tbem_native_args* args;
  int64_t channels, pixels; /* of an image */
  int64_t size;
  double alpha, beta, k;
} problem;

static problem problem_of(const tbem_native_args* args) {
  const tbem_operand* x = &args->operands[0];
  problem p = {args, x->dims[1], x->dims[2] * x->dims[3], args->attributes[0], 0, 0, 0};
  if (args->scalars) p.alpha = args->scalars[0], p.beta = args->scalars[1], p.k = args->scalars[2];
  return p;
}

static int64_t first(const problem* p, int64_t c) { return c - p->size / 2 < 0 ? 0 : c - p->size / 2; }
static int64_t last(const problem* p, int64_t c) {
  const int64_t end = c + (p->size - 1) / 2;
  return end >= p->channels ? p->channels - 1 : end;
}

/* The loops for one element type. Images are independent: the threads share them. */
#define LOOPS(type)                                                                                    \
  static double base_##type(const problem* p, const type* x, int64_t c, int64_t pixel) {               \
    double sum = 0;                                                                                    \
    for (int64_t i = first(p, c); i <= last(p, c); ++i) {                                              \
      const double value = x[i * p->pixels + pixel];                                                   \
      sum += value * value;                                                                            \
    }                                                                                                  \
    return p->k + p->alpha / (double)p->size * sum;                                                    \
  }                                                                                                    \
  static void forward_##type(void* context, int64_t begin, int64_t end) {                              \
    const problem* p = (const problem*)context;                                                        \
    for (int64_t n = begin; n < end; ++n) {                                                            \
      const int64_t image = n * p->channels * p->pixels;                                               \
      const type* x = (const type*)p->args->data[0] + image;                                           \
      type* y = (type*)p->args->data[1] + image;                                                       \
      for (int64_t c = 0; c < p->channels; ++c)                                                        \
        for (int64_t i = 0; i < p->pixels; ++i)                                                        \
          y[c * p->pixels + i] = (type)(x[c * p->pixels + i] * pow(base_##type(p, x, c, i), -p->beta)); \
    }                                                                                                  \
  }                                                                                                    \
  static void gradient_##type(void* context, int64_t begin, int64_t end) {                             \
    const problem* p = (const problem*)context;                                                        \
    for (int64_t n = begin; n < end; ++n) {                                                            \
      const int64_t image = n * p->channels * p->pixels;                                               \
      const type* x = (const type*)p->args->data[0] + image;                                           \
      const type* dy = (const type*)p->args->data[1] + image;                                          \
      type* dx = (type*)p->args->data[2] + image;                                                      \
      double* through = (double*)p->args->workspace + image; /* dy x d^(-beta-1) of each element */    \
      for (int64_t c = 0; c < p->channels; ++c)                                                        \
        for (int64_t i = 0; i < p->pixels; ++i) {                                                      \
          const int64_t at = c * p->pixels + i;                                                        \
          const double base = base_##type(p, x, c, i);                                                 \
          through[at] = dy[at] * x[at] * pow(base, -p->beta - 1);                                      \
          dx[at] = (type)(dy[at] * pow(base, -p->beta));                                               \
        }                                                                                              \
      for (int64_t c = 0; c < p->channels; ++c)                                                        \
        for (int64_t i = 0; i < p->pixels; ++i) {                                                      \
          double sum = 0; /* over the channels in whose window c is: the window mirrored */            \
          for (int64_t m = c - (p->size - 1) / 2; m <= c + p->size / 2; ++m)                           \
            if (m >= 0 && m < p->channels) sum += through[m * p->pixels + i];                          \
          dx[c * p->pixels + i] -= (type)(2 * p->alpha * p->beta / (double)p->size * x[c * p->pixels + i] * sum); \
        }                                                                                              \
    }                                                                                                  \
  }
LOOPS(float)
LOOPS(double)

typedef void (*body)(void* context, int64_t begin, int64_t end);

static int32_t run(const tbem_native_args* args, body in_f32, body in_f64) {
  problem p = problem_of(args);
  const int32_t dtype = args->operands[0].dtype;
  if (dtype != TBEM_F32 && dtype != TBEM_F64) {
    snprintf(args->message, args->message_size, "f32 and f64 are there, not element type %d", (int)dtype);
    return TBEM_UNSUPPORTED;
  }
  args->parallel(args, dtype == TBEM_F32 ? in_f32 : in_f64, &p, args->operands[0].dims[0]);
  return TBEM_OK;
}

int32_t local_response_norm(const tbem_native_args* args) { return run(args, forward_float, forward_double); }
int32_t local_response_norm_gradient(const tbem_native_args* args) { return run(args, gradient_float, gradient_double); }

uint64_t local_response_norm_gradient_workspace(const tbem_native_args* args) {
  const int64_t* dims = args->operands[0].dims;
  return (uint64_t)(dims[0] * dims[1] * dims[2] * dims[3]) * sizeof(double);
}
