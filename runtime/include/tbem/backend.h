/* The plug-in table of a backend: what the compiler asks of a device, and what native code runs on it.
 *
 * A backend is one `tbem_backend` table. Built-in: ref (f64 or f32, nested loops), cpu (oneDNN), cuda (cuDNN and
 * cuBLASLt, opened at run time), fake (scripted failures).
 * Nothing throws here. Several threads may call functions of a backend without a device table, one those of others. */
#ifndef TBEM_BACKEND_H
#define TBEM_BACKEND_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TBEM_BACKEND_ABI 7u
#define TBEM_MAX_RANK 8
#define TBEM_MAX_ALGORITHMS 4 /* numbers of algorithms lie below it */

typedef enum tbem_dtype {
#define TBEM_DTYPE(enumerator, name, bytes) TBEM_##enumerator,
#include "tbem/dtypes.def"
} tbem_dtype;

/* Of real numbers; the others hold whole ones or truth values, and have no gradient. */
static inline int tbem_is_floating(int32_t dtype) { return dtype >= TBEM_F64 && dtype <= TBEM_F8E5M2; }

typedef enum tbem_primitive {
#define TBEM_PRIMITIVE(name, inputs, outputs, attributes, scalars, facts) TBEM_PRIMITIVE_##name,
#include "tbem/primitives.def"
#undef TBEM_PRIMITIVE
  TBEM_PRIMITIVE_COUNT
} tbem_primitive;

typedef enum tbem_status {
  TBEM_OK = 0,
  TBEM_UNSUPPORTED = 1, /* this primitive, element type or layout is not there; last_error says which */
  TBEM_OUT_OF_MEMORY = 2,
  TBEM_FAILED = 3, /* the library failed; last_error has its message */
  TBEM_INVALID = 4 /* the caller's mistake: our bug */
} tbem_status;

/* Where each element of a tensor lies. Element (i0, i1, ..) is at
 *   sum_k (i_k div B_k) * strides[k] + offset inside the block, in elements,
 * where B_k is the product of the block sizes of dimension k. Blocks are listed from the outermost to the innermost and the
 * innermost varies fastest: nChw16c is blocks = 1, block_dim = {1}, block_size = {16}. Plain row-major: no blocks.
 * `padded[k]` >= dims[k] is a multiple of B_k; what lies between is kept zero. */
typedef struct tbem_layout {
  int64_t strides[TBEM_MAX_RANK];
  int64_t padded[TBEM_MAX_RANK];
  int32_t blocks;
  int32_t block_dim[4];
  int32_t block_size[4];
  int32_t any;    /* 1: not chosen yet (only in a query) */
  uint64_t bytes; /* whole extent, in bytes */
} tbem_layout;

typedef struct tbem_operand {
  int32_t present; /* 0: an absent optional operand */
  int32_t dtype;   /* tbem_dtype */
  int32_t rank;
  int64_t dims[TBEM_MAX_RANK];
  tbem_layout layout;
} tbem_operand;

/* Shortens an operand to its first rows: those of `to` of `from` samples, more than one. They lie along the first dimension that
 * is not 1, which is the outermost one, unpadded. */
static inline void tbem_take_rows(tbem_operand* operand, int64_t from, int64_t to) {
  int32_t at = 0;
  while (at + 1 < operand->rank && operand->dims[at] == 1) ++at;
  operand->dims[at] = operand->dims[at] / from * to;
  operand->layout.padded[at] = operand->dims[at];
  operand->layout.bytes = operand->layout.bytes / (uint64_t)from * (uint64_t)to;
}

/* One native operator: operands in the order of primitives.def (inputs, then outputs), attributes flattened as it says. */
typedef struct tbem_op_desc {
  uint32_t size;     /* sizeof(tbem_op_desc) */
  int32_t primitive; /* tbem_primitive */
  int32_t inputs, outputs;
  tbem_operand* operands; /* inputs + outputs of them */
  const int64_t* attributes;
  int32_t attribute_count;
  int32_t threads;
  /* Which of the backend's algorithms: 0 its default, which is always there; 1 and up others, whose results may differ in the
   * last bits. A query answers TBEM_UNSUPPORTED for a number that the backend has not, or has not for this description. */
  int32_t algorithm;
  /* 1: products of f32 may round their factors to TF32 (10 stored bits of significand), where the device is faster so; sums stay
   * in f32. */
  int32_t tf32;
} tbem_op_desc;

/* What a query answers. Operand layouts that were `any` are filled in the description itself. */
typedef struct tbem_op_info {
  uint64_t workspace;      /* bytes needed while it runs, exact; alignment 64 */
  char implementation[64]; /* the library's own name of the algorithm, "" if it has none */
} tbem_op_info;

typedef struct tbem_device_info {
  char name[128];    /* processor or GPU model */
  char isa[64];      /* "avx512_core_bf16", "sm_90" */
  char library[128]; /* "oneDNN 2.6.3", with versions */
  int32_t threads;
  uint64_t memory; /* bytes */
} tbem_device_info;

typedef struct tbem_op tbem_op; /* a prepared operator; owned by the backend, released with `destroy` */

/* Of a device whose memory the host cannot reach. */
typedef struct tbem_module tbem_module;       /* code on the device; released with `unload` */
typedef struct tbem_kernel tbem_kernel;       /* a function of a module, as long as the module lives */
typedef struct tbem_recording tbem_recording; /* work that was recorded; released with `forget` */

/* What `run`, `launch`, `zero`, `move`, `copy_in` and `copy_out` are asked of such a device happens in the order in which it was
 * asked; all but the copies may return before it is done, and then a failure is told by a later call. */
typedef struct tbem_device_table {
  const char* target; /* for which loops are compiled: "nvptx64"; an image is PTX with a zero behind it, or a cubin */
  tbem_status (*load)(const void* image, uint64_t bytes, tbem_module** out); /* TBEM_UNSUPPORTED: a cubin, and of another card */
  void (*unload)(tbem_module* module);
  tbem_status (*find)(tbem_module* module, const char* name, tbem_kernel** out);
  /* Runs a kernel for `items` items. Its parameters are `count` arguments of eight bytes each: addresses and i64. It shares the
   * items out itself over as many threads as there are, so their number is the backend's choice; but where its threads work
   * together in blocks, of so many `threads`, which are 0 otherwise, it shares out blocks, and items are a multiple of them. */
  tbem_status (*launch)(tbem_kernel* kernel, const uint64_t* arguments, int32_t count, int64_t items, int32_t threads);
  tbem_status (*zero)(void* memory, uint64_t bytes);
  tbem_status (*move)(void* to, const void* from, uint64_t bytes); /* within the device; the two do not overlap */
  /* Between `record` and `recorded` work is kept instead of done; copies and `synchronize` are no work and may not be asked.
   * `replay` does it as often as is wanted, with the addresses and scalars that were given then. */
  tbem_status (*record)(void);
  /* What follows, up to `record_always`, is done where the i64 at `count`, in the device's memory, is above 0 when the recording
   * gets there: nobody waits for it. TBEM_UNSUPPORTED, or from `recorded`: the device decides nothing; what was recorded then is
   * ended with `recorded`, and gives none. Null: likewise. */
  tbem_status (*record_where)(const void* count);
  tbem_status (*record_always)(void);
  tbem_status (*recorded)(tbem_recording** out);
  tbem_status (*replay)(tbem_recording* recording);
  void (*forget)(tbem_recording* recording);
} tbem_device_table;

typedef struct tbem_backend {
  uint32_t abi;  /* TBEM_BACKEND_ABI */
  uint32_t size; /* sizeof(tbem_backend) */
  const char* name;
  /* TBEM_OK where the device can be used; fills `info`. */
  tbem_status (*probe)(tbem_device_info* info);
  /* Chooses layouts for operands whose layout is `any`, checks that the fixed ones can be run, and fills `info`.
   * Deterministic. Prepares nothing, allocates no tensor memory. `operands` null: only whether the primitive is there at all. */
  tbem_status (*query)(tbem_op_desc* op, tbem_op_info* info);
  /* Prepares an operator whose layouts are all fixed, as query left them. Several threads may do so at once. */
  tbem_status (*create)(const tbem_op_desc* op, tbem_op** out);
  /* Runs it. `operands`: pointers in the order of the description (null for absent ones); `workspace`: as many bytes as
   * query said, 64-aligned, or null for 0; `scalars`: in the order of primitives.def. Allocates nothing of ours. Several threads
   * may run different operators at once, each with memory of its own. */
  tbem_status (*run)(tbem_op* op, void* const* operands, void* workspace, const double* scalars);
  void (*destroy)(tbem_op* op);
  /* Device memory, 64-aligned (4096 for the arena); TBEM_OUT_OF_MEMORY is an answer, not a crash. */
  tbem_status (*allocate)(uint64_t bytes, void** out);
  void (*release)(void* memory, uint64_t bytes);
  tbem_status (*copy_in)(void* device, const void* host, uint64_t bytes);
  tbem_status (*copy_out)(void* host, const void* device, uint64_t bytes);
  tbem_status (*synchronize)(void);
  /* Runs body(context, begin, end) over [0, count) on at most `threads` threads; ranges are disjoint and cover it. Null with a
   * device table: host code has nothing to do there. */
  void (*parallel)(int32_t threads, void (*body)(void* context, int64_t begin, int64_t end), void* context, int64_t count);
  /* The message of the last status that was not TBEM_OK on this thread. Owned by the backend. */
  const char* (*last_error)(void);
  const tbem_device_table* device; /* null: the host's code reads and writes the memory, and loops are compiled for the host */
} tbem_backend;

/* The built-in backends. */
const tbem_backend* tbem_backend_ref(void);
const tbem_backend* tbem_backend_cpu(void);
const tbem_backend* tbem_backend_cuda(void);
const tbem_backend* tbem_backend_fake(void);

#ifdef __cplusplus
}
#endif
#endif
