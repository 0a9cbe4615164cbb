// How the C library's heap grows.
#pragma once

namespace tbem::driver {

/// GNU's heap asks the system for 128 KiB at a time, each page of which costs a fault when it is first touched: a tenth of what
/// elaborating a large network takes. By 16 MiB at a time it gets huge pages, where the system gives them. Thresholds are where
/// the library's own adjusting ends, which setting any of them switches off.
void growHeapInLargeSteps();

}  // namespace tbem::driver
