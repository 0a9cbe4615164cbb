// A record of the language as a device: the table of fields, and what is wrong with a record.
#pragma once

#include "compiler/estimate/Device.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

/// A field as documentation lists it.
struct DeviceFieldText {
  std::string name, takes, means;
  bool ofArchitecture = false;  ///< of the record `architecture`
};
const std::vector<DeviceFieldText>& deviceFields();

/// The device that a constant declares; nothing after telling what is wrong with it.
std::optional<estimate::Device> readDevice(const sema::Program& program, const sema::Module& module,
                                           const ast::Constant& constant, DiagnosticSink& sink);

/// True where a constant is a record with a bandwidth: a device, and not a part of one.
bool isDevice(const ast::Constant& constant);

}  // namespace tbem::driver
