// What the files with the driver's functions share.
#pragma once

#include "test/card/driver/Card.h"

/// A function of libcuda.so.1; its parameters are those of cuda.h, handles as void*.
#define TBEM_CARD_API extern "C" __attribute__((visibility("default"))) int
