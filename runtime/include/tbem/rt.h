/* The C ABI that native (JIT-compiled) code calls, and the shape of the functions it exports. */
#ifndef TBEM_RT_H
#define TBEM_RT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TBEM_RT_ABI 6u

/* One executable's run-time state; made by runtime/core, opaque to native code. */
typedef struct tbem_rt_context tbem_rt_context;

/* A native loop: elements [begin, end) of the outermost collapsed dimension. `scalars`: run-time scalars, slot 0 is the
 * number of the step (from 1). `seed`: of this run, for Philox. Touches only the arena. */
typedef void (*tbem_rt_loop)(char* arena, const double* scalars, uint64_t seed, int64_t begin, int64_t end);

/* The exported function of a task (`tbem_step`): runs the whole step; returns a tbem_status of the first call that failed. */
typedef int32_t (*tbem_rt_step)(tbem_rt_context* context, char* arena, const double* scalars, uint64_t seed);

/* Runs native call number `call` of the program on the backend. `samples`: how many samples of the batch it is for, where it
 * stands behind a gate; 0: the whole batch. `part`: the thread that runs it alone, in memory of its own; -1: all do. */
int32_t tbem_rt_call(tbem_rt_context* context, uint32_t call, int64_t samples, int64_t part);
/* Runs `loop` over [0, count) on the backend's threads. */
void tbem_rt_parallel(tbem_rt_context* context, tbem_rt_loop loop, char* arena, const double* scalars, uint64_t seed,
                      int64_t count);

/* Where the host cannot reach the arena (each returns a tbem_status): runs kernel number `kernel` of the image (executable.h)
 * with `arguments` of eight bytes each, for `items` items, by blocks of `threads` or, where that is 0, of any number; .. */
int32_t tbem_rt_launch(tbem_rt_context* context, uint32_t kernel, const uint64_t* arguments, int32_t count, int64_t items,
                       int32_t threads);
/* .. makes bytes of the arena zero; copies some to others, which do not overlap; reads how many samples a branch has; .. */
int32_t tbem_rt_zero(tbem_rt_context* context, char* memory, uint64_t bytes);
int32_t tbem_rt_move(tbem_rt_context* context, char* to, const char* from, uint64_t bytes);
int32_t tbem_rt_count(tbem_rt_context* context, const char* memory, int64_t* count);
/* .. is told that what was for those samples has ended; .. */
int32_t tbem_rt_join(tbem_rt_context* context);
/* .. tells the number of the micro-batch at hand, which the arena holds for the host's code. */
int32_t tbem_rt_micro_batch(tbem_rt_context* context, uint64_t number);

/* Steps that one thread runs for `samples` samples of its own; returns a tbem_status of the first call that failed. */
typedef int32_t (*tbem_rt_part)(tbem_rt_context* context, char* arena, const double* scalars, uint64_t seed, int64_t part,
                                int64_t samples);
/* Runs `code` for all parts, one a thread of the backend's; returns a status that is not TBEM_OK if one did. */
int32_t tbem_rt_parts(tbem_rt_context* context, tbem_rt_part code, char* arena, const double* scalars, uint64_t seed,
                      int64_t samples);

/* Step number `step` of the program has just ended in a part (-1: outside of parts); of parts, the first one's time counts. Only
 * in code compiled with marks: that is how a step is profiled. */
void tbem_rt_mark(tbem_rt_context* context, uint32_t step, int64_t part);

#ifdef __cplusplus
}
#endif
#endif
