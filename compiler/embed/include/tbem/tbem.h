/* tbem: what a neural network will cost, and its steps, inside another program's process.
 *
 *   session   a program's text and where its modules are; answers questions about it
 *   result    one answer: JSON lines as `tbemc --json` prints them (docs/json.md), and what there is to say of a failure
 *   step      one row of a program, compiled for this processor; its tensors come and go as DLPack tensors
 *
 * Errors are values: every function that can fail returns a tbem_outcome, and the session, the step or the result has the reason
 * in words. Nothing here ends the process, throws, installs a signal handler, prints, or reads an environment variable (but for
 * the backend `fake`, which is for tests and reads TBEM_FAKE, LLVM, which looks for a variable of its own when it is loaded, and
 * answers of a cuDNN whose folder is given, which are kept in the cache folder of `tbemc`). A proof of `tbem_check` runs in a
 * child of the process, which is forked and waited for.
 *
 * Threads. Sessions share nothing: each may be used in a thread of its own, at the same time as others; one session, or one step,
 * by one thread at a time. A step does not need the session that it was made by. A result does not change: any threads may read
 * it. Tensors that a step gave may be released in any thread, before or after the step.
 *
 * Ownership. What a function writes to a `**out` is the caller's, who ends it with the `_free` of its kind; null is allowed
 * there. Where a function fails, null is written, but for results: those are there with the reason. Texts belong to what they
 * were asked of and live as long, unless said otherwise. Texts are UTF-8 with a 0 at the end. Arguments are copied, but for
 * tensors that are shared.
 *
 * C99; may be included from C++. */
#ifndef TBEM_TBEM_H
#define TBEM_TBEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What tbem_abi returns: raised when a function or a struct of this header changes its meaning. */
#define TBEM_ABI 1u

/* DLPack's tensors (https://dmlc.github.io/dlpack/latest/): include dlpack.h, or tbem/dlpack_abi.h, for what is in them. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

/* The numbers up to TBEM_VERDICT_AGAINST are the exit statuses of `tbemc` (docs/cli.md). */
typedef enum tbem_outcome {
  TBEM_DONE = 0,
  TBEM_PROGRAM_ERRORS = 1,  /* the program has errors: the result's lines of kind `check` */
  TBEM_USAGE = 2,           /* an option, a name or a tensor does not fit; the reason says what does */
  TBEM_ENVIRONMENT = 3,     /* the machine lacks something: a file, a backend */
  TBEM_RUN_FAILED = 4,      /* a step failed */
  TBEM_VERDICT_AGAINST = 5, /* an answer, and it is no: a row does not fit the memory that was given */
  TBEM_NO_MEMORY = 64,      /* the process has none left */
  TBEM_MISUSE = 65,         /* a null pointer, a struct of another size: what the caller's program does wrong */
  TBEM_INTERNAL = 70        /* a bug of tbem's; the session goes on */
} tbem_outcome;

typedef struct tbem_session tbem_session;
typedef struct tbem_result tbem_result;
typedef struct tbem_step tbem_step;

uint32_t tbem_abi(void);
/* "0.1.0" */
const char* tbem_version(void);
/* "done", "program errors", ..; "unknown" for a number that is none. */
const char* tbem_outcome_name(tbem_outcome outcome);

/* ---- Sessions ---------------------------------------------------------------------------------------------------------- */

/* What the command line takes from the environment. */
typedef struct tbem_settings {
  uint32_t size;              /* sizeof(tbem_settings) */
  uint32_t module_count;      /* of `modules` */
  const char* const* modules; /* folders in which modules are looked for behind the program's own: TBEM_PATH; null: none */
  const char* stdlib;         /* a folder in place of the embedded standard library: TBEM_STDLIB; null: the embedded one */
  const char* cache;          /* folder of compiled steps, which belongs to this user alone; null: none are kept */
} tbem_settings;

/* `settings`: null: no folders. Errors: TBEM_MISUSE (`out` is null, another size, a null text). */
tbem_outcome tbem_session_new(const tbem_settings* settings, tbem_session** out);
void tbem_session_free(tbem_session* session);
/* Why the last call with this session failed, "" where it did not; until the next call with it. */
const char* tbem_session_error(const tbem_session* session);

/* The program that the session answers for, from now on: `bytes` bytes of text, which need no 0 at their end. It is not looked at
 * yet. `name`: what messages call it, and beside which its modules are looked for ("net.tbem"; the file need not exist);
 * null or "": none: messages call it <text>, and it may be an expression of one network, such as `resnet(depth: 50)`, which
 * becomes a design of one row. Errors: TBEM_MISUSE (null), TBEM_USAGE (a 0 in the text). */
tbem_outcome tbem_load(tbem_session* session, const char* name, const char* text, size_t bytes);

/* The same of a model of PyTorch: `document` is what tools/runners/export.py (tbem._export of the Python package) writes of it,
 * `bytes` bytes of JSON. The session answers from now on for the program that `tbemc import` would write of it, with a network of
 * this name (another one where the name is reserved) and a design of one row. It is read, and its weights are compared with the
 * model's: `*out` has what there is to say of it, and an object "imported" with the names of its weights: "weights", a list of
 * the "model"'s and the "program"'s. Errors, each with diagnostics (E08xx) among the objects of `*out`: TBEM_MISUSE
 * (null; `*out` stays null), TBEM_ENVIRONMENT (no export of a model), TBEM_USAGE (the document says why the model cannot be
 * exported), both with a sentence, too; TBEM_PROGRAM_ERRORS (operators that have no form in the language and cannot be opaque,
 * with the lines of the model that call them). On an error the session keeps the program that it had. */
tbem_outcome tbem_import(tbem_session* session, const char* network, const char* document, size_t bytes, tbem_result** out);
/* The program that the session answers for, "" where there is none; until the next tbem_load or tbem_import. */
const char* tbem_session_text(const tbem_session* session);

/* ---- Questions --------------------------------------------------------------------------------------------------------- */

/* An option of the command of the same name (docs/cli.md), by its long name without dashes: {"on", "pytorch"},
 * {"input", "image=16,3,224,224"}, {"at", "batch=4"}, {"keep-gradients", NULL}. An option that may be given several times may
 * stand here several times. `network` is `-e` beside a file: one of its networks with parameters.
 * An option is heeded or refused (TBEM_USAGE). Refused are those of a terminal and of files (json, sarif, quiet, color, width,
 * time, verbose, emit, print-after, fix, out, save, load, names, partial), and those that read what `tbemc` keeps of this machine
 * (tune; roofline with `cpu`). cuDNN is asked only where `cudnn` names its folder. */
typedef struct tbem_option {
  const char* name;
  const char* value; /* null: a flag */
} tbem_option;

/* Everything that can be known of the program without running it: lines of kind `check`, none where there is nothing to say.
 * Without options a session keeps what it knows from check to check: an edited program is checked in less time.
 *
 * All of these: `options` may be null where `count` is 0. `*out` has the lines, for TBEM_PROGRAM_ERRORS the errors too.
 * TBEM_MISUSE and TBEM_NO_MEMORY leave it null, TBEM_INTERNAL may. */
tbem_outcome tbem_check(tbem_session* session, const tbem_option* options, size_t count, tbem_result** out);
/* Parameters, FLOPs and memory of each row, before anything runs: lines of kind `estimate` or another that `tbemc estimate
 * --json` prints with the same options. Bytes and FLOPs are exact numbers. */
tbem_outcome tbem_estimate(tbem_session* session, const tbem_option* options, size_t count, tbem_result** out);
/* The largest level of a factor that fits a memory: lines of kind `fit`. {"max", "22GiB"} must be given. */
tbem_outcome tbem_fit(tbem_session* session, const tbem_option* options, size_t count, tbem_result** out);
/* The GPUs that a step fits in eager PyTorch, and what single changes of it would save: lines of kind `what-if`. */
tbem_outcome tbem_what_if(tbem_session* session, const tbem_option* options, size_t count, tbem_result** out);
/* Proofs of processes, of designs, and of networks for all sizes: lines of kind `spec` and `check`. TBEM_VERDICT_AGAINST where a
 * condition is refuted. {"run", ..} and {"csv", NULL} are refused. */
tbem_outcome tbem_spec(tbem_session* session, const tbem_option* options, size_t count, tbem_result** out);

/* ---- Results ----------------------------------------------------------------------------------------------------------- */

void tbem_result_free(tbem_result* result);
/* All lines, each with a line end; and one of them, without it. Null where there is no line of this number. */
const char* tbem_result_json(const tbem_result* result);
size_t tbem_result_line_count(const tbem_result* result);
const char* tbem_result_line(const tbem_result* result, size_t number);
/* Why there is no answer, or what is wrong beside one: sentences, each on a line; "". Errors of the program stand in the lines.
 */
const char* tbem_result_error(const tbem_result* result);
/* Sentences beside the answer, each on a line; "". */
const char* tbem_result_notes(const tbem_result* result);

/* ---- Steps ------------------------------------------------------------------------------------------------------------- */

/* The first row that the options choose (those of `tbemc step`: on, threads, dtype, design, at, input, task, seed), compiled, its
 * weights and inputs filled as `tbemc step` fills them from `seed`. Its gradients and outputs can be read after a run. Refused,
 * beside the options above: steps, repeat, profile; and operators whose code is a library of the program's own.
 * `result`: may be null; else it gets what there is to say of the program. On an error `*out` is null. */
tbem_outcome tbem_step_new(tbem_session* session, const tbem_option* options, size_t count, tbem_step** out,
                           tbem_result** result);
void tbem_step_free(tbem_step* step);
/* Why the last call with this step failed, "" where it did not; until the next call with it. */
const char* tbem_step_error(const tbem_step* step);

/* Of a tensor of the step: */
#define TBEM_TENSOR_BEGINS 1u     /* the step begins with it: tbem_step_set takes one */
#define TBEM_TENSOR_SHARED_IN 2u  /* tbem_step_set can take the caller's memory itself */
#define TBEM_TENSOR_SHARED_OUT 4u /* tbem_step_get can give the step's memory itself */

typedef struct tbem_tensor {
  uint32_t size;  /* sizeof(tbem_tensor), set by the caller */
  uint32_t flags; /* TBEM_TENSOR_.. */
  /* "input/NAME", "target" (of several: "target.NAME"), "weight/PATH", "buffer/PATH": what a step begins with. "gradient/PATH",
   * "after/PATH" (a weight behind the update), "buffer_after/PATH", "output" (of several: "output_2", ..), "loss": what it
   * leaves. */
  const char* name;
  const char* dtype;    /* "f32", "i64", .. */
  const int64_t* shape; /* `rank` of them */
  int32_t rank;
  uint64_t bytes;         /* of its elements, row-major */
  const char* copied_in;  /* why TBEM_SHARE cannot set it, as the end of a sentence; "" with TBEM_TENSOR_SHARED_IN */
  const char* copied_out; /* why TBEM_SHARE cannot get it; "" with TBEM_TENSOR_SHARED_OUT */
} tbem_tensor;

size_t tbem_step_tensor_count(const tbem_step* step);
/* Errors: TBEM_MISUSE (null, another size), TBEM_USAGE (there is no tensor of this number). */
tbem_outcome tbem_step_tensor(tbem_step* step, size_t number, tbem_tensor* out);

/* Whether bytes are copied: said by the caller, never decided in silence. */
typedef enum tbem_transfer {
  TBEM_SHARE = 0, /* the same memory, or TBEM_USAGE and why a copy would be needed */
  TBEM_COPY = 1   /* a copy */
} tbem_transfer;

/* Gives the step a tensor that it begins with. Its element type and shape must be the step's; it lies on the CPU (or in memory
 * that the CPU reads: kDLCUDAHost). Strides may be any with TBEM_COPY.
 *   TBEM_COPY   the elements are copied; `tensor`'s deleter has been called when this returns.
 *   TBEM_SHARE  from now on every run reads `tensor`'s memory, where it lies: row-major, aligned as one element is, and not
 * memory of this step. The step keeps the tensor, and calls its deleter when another has taken its place, or the step is freed,
 * and nobody has a tensor any more that tbem_step_get shared of it. The caller may change the elements between runs. Inputs and
 * targets alone; not where tbem_tensor.copied_in says why. Weights and buffers are updated by the step where it keeps them: set
 * them by copy, or write to the tensor that tbem_step_get shares. Values of a shared tensor are not looked at: an integer that
 * names no element of what it indexes fails the run. On an error the tensor stays the caller's, its deleter is not called.
 * Errors: TBEM_MISUSE (null), TBEM_USAGE. */
tbem_outcome tbem_step_set(tbem_step* step, const char* name, struct DLManagedTensor* tensor, tbem_transfer transfer);
/* The same for DLPack's versioned tensors, of major version 1. Read-only ones are welcome. */
tbem_outcome tbem_step_set_versioned(tbem_step* step, const char* name, struct DLManagedTensorVersioned* tensor,
                                     tbem_transfer transfer);

/* A tensor of the step, on the CPU. The caller, or whoever it is handed to, calls its deleter.
 *   TBEM_COPY   row-major, with memory of its own: as the tensor is now.
 *   TBEM_SHARE  the step's memory, with the step's strides: the next run changes it, and what is written to a tensor that the
 * step begins with is what the next run begins with. It keeps that memory, also behind tbem_step_free. Several tensors may be the
 * same memory (`weight/PATH` and `after/PATH`). Of an input it is where the next run reads it: ask again after a tbem_step_set
 * that shares. A read-only one is given as a versioned tensor alone. Before the first run, only what a step begins with has
 * values. Errors: TBEM_MISUSE, TBEM_USAGE (an unknown name, a copy would be needed, an element type that DLPack has no code for).
 */
tbem_outcome tbem_step_get(tbem_step* step, const char* name, tbem_transfer transfer, struct DLManagedTensor** out);
tbem_outcome tbem_step_get_versioned(tbem_step* step, const char* name, tbem_transfer transfer,
                                     struct DLManagedTensorVersioned** out);

/* Another tensor of the same memory, with its own deleter: for a holder that hands a tensor on more than once. `tensor` is one
 * that tbem_step_get_versioned or the second of these gave, and stays as it is. Needs no step. Errors: TBEM_MISUSE (null),
 * TBEM_USAGE (it is somebody else's tensor; of the first: it is read-only, which the plain struct cannot say), TBEM_NO_MEMORY. */
tbem_outcome tbem_share_tensor(const struct DLManagedTensorVersioned* tensor, struct DLManagedTensor** out);
tbem_outcome tbem_share_tensor_versioned(const struct DLManagedTensorVersioned* tensor, struct DLManagedTensorVersioned** out);

/* Runs the step `steps` times (1 or more), each beginning with the weights that the one before left, on the inputs that are
 * there. The number of a step, which learning rates and random numbers depend on, goes on from call to call. `result`: may be
 * null; else it gets the line of kind `step` that `tbemc step --json` prints (loss, seconds of a step, gates, arrays with numbers
 * that are not finite), for which all results are looked through. Errors: TBEM_RUN_FAILED: which operator of the step failed, and
 * why; what the step left is undefined then. */
tbem_outcome tbem_step_run(tbem_step* step, uint32_t steps, tbem_result** result);

#ifdef __cplusplus
}
#endif
#endif
