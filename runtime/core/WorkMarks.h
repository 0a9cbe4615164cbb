// Who is told when a step asks a device for its work.
#pragma once

#include "tbem/backend.h"

namespace tbem::runtime {

/// Both may ask the device for something themselves. What is not TBEM_OK fails the run, with the backend's last error.
class WorkMarks {
public:
  WorkMarks() = default;
  virtual ~WorkMarks() = default;
  WorkMarks(const WorkMarks&) = delete;
  WorkMarks& operator=(const WorkMarks&) = delete;

  /// In front of all that a run asks of the device.
  virtual tbem_status begin() = 0;
  /// Behind it, before anybody waits for the last of it.
  virtual tbem_status end() = 0;
};

}  // namespace tbem::runtime
