/* An operator's own code: what a function of a shared library gets when a program declares `native "lib.so:symbol"`.
 *
 * The library says which version of this interface it was written for, once, in one of its files:
 *     TBEM_NATIVE_LIBRARY
 * and exports, for each operator, a function `symbol` of type tbem_native_function, and if it needs memory while it runs a
 * function `symbol_workspace` of type tbem_native_workspace. Tensors are row-major without gaps, f32 or f64 or whatever type the
 * declaration names; shapes are those of the declaration. */
#ifndef TBEM_NATIVE_H
#define TBEM_NATIVE_H

#include "tbem/backend.h"

#ifdef __cplusplus
extern "C" {
#define TBEM_NATIVE_LIBRARY extern "C" __attribute__((visibility("default"))) const uint32_t tbem_native_abi = TBEM_NATIVE_ABI;
#else
#define TBEM_NATIVE_LIBRARY __attribute__((visibility("default"))) const uint32_t tbem_native_abi = TBEM_NATIVE_ABI;
#endif

#define TBEM_NATIVE_ABI 1u

typedef struct tbem_native_args {
  uint32_t size; /* sizeof(tbem_native_args) of the caller */
  int32_t threads;
  /* Operands: the declaration's tensors, then its weights and buffers, each in order of declaration, then the results.
   * `operands[i].present` is 0 for a weight whose `if` is false. dims[0 .. rank), dtype (tbem_dtype), layout.strides in elements.
   */
  int32_t inputs, outputs;
  const tbem_operand* operands;
  void* const* data; /* where each operand's elements lie; null for an absent one. Inputs may not be written */
  /* The declaration's parameters in order of declaration: int and bool one value, pair two, pads four, a list of int its length
   * and then its values in `attributes`; real ones in `scalars`. */
  const int64_t* attributes;
  const double* scalars; /* null in tbem_native_workspace: they may differ from step to step */
  int32_t attribute_count, scalar_count;
  void* workspace; /* 64-aligned; null for 0 bytes */
  uint64_t workspace_bytes;
  /* Runs body(context, begin, end) over [0, count) on the backend's threads; ranges are disjoint and cover it, and a
   * thread may be given several, one after another. Call it with the args that were given. Null in tbem_native_workspace. */
  void (*parallel)(const struct tbem_native_args* args, void (*body)(void* context, int64_t begin, int64_t end), void* context,
                   int64_t count);
  char* message; /* where a failing function writes why, with a 0 at the end */
  uint32_t message_size;
  const void* runtime; /* the caller's own */
} tbem_native_args;

/* Computes the results. Returns TBEM_OK, or another tbem_status and a message. Writes results and workspace and nothing else,
 * allocates nothing that it does not free, does not throw, and gives the same bits for the same operands. */
typedef int32_t (*tbem_native_function)(const tbem_native_args* args);
/* Bytes that the function needs in `workspace`, from shapes and attributes alone: data, workspace and scalars are null. */
typedef uint64_t (*tbem_native_workspace)(const tbem_native_args* args);

#ifdef __cplusplus
}
#endif
#endif
