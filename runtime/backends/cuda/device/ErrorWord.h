// What kernels find wrong in numbers that lie on the device, such as an index outside its axis. A kernel cannot fail a call, and
// to read what it found would stop the stream and could not be recorded; so it notes it in one word of device memory, which is
// looked at when the stream is waited for anyway. A kernel that notes something reads and writes nothing outside its operands.
#pragma once

#include "runtime/backends/cuda/device/Driver.h"
#include "tbem/backend.h"

namespace tbem::cuda {

/// The word's address, for kernels (kernels/Report.cuh). Made by the first who asks, with the device open; not while work is
/// recorded.
tbem_status errorWord(DevicePointer& word);

/// Waits for the stream and looks at the word: TBEM_OK, also where nobody asked for the word, or TBEM_FAILED with the primitive
/// and the place of the first number of it that is wrong, as `ref` fails the run. The word is then clean again. Not while work is
/// recorded.
tbem_status readErrorWord();

}  // namespace tbem::cuda
