// A library whose constructor leaves a mark: a file that is there once any code of the library has run.
#include "tbem/native.h"

#include <fcntl.h>
#include <string.h>

TBEM_NATIVE_LIBRARY

__attribute__((constructor)) static void mark(void) { open(MARK, O_CREAT | O_WRONLY, 0600); }

int32_t same(const tbem_native_args* args) {
  memcpy(args->data[1], args->data[0], args->operands[0].layout.bytes);
  return TBEM_OK;
}
