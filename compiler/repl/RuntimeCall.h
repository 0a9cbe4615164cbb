// Expressions that tensors flow through, `net(image: [8, 3, 224, 224])` or `relu(y) + 1`: a network of their own and a design of
// one row, so that everything which can be asked of a program can be asked of them.
//
// Where an operator, block or network wants a tensor, a list of whole numbers is the shape of a tensor that has no numbers yet,
// and the name of a tensor (Tensors.h) is that tensor.
#pragma once

#include "compiler/experiment/Workspace.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::repl {

/// A tensor as a call needs to know it.
struct TensorType {
  std::string dtype;  ///< as a parameter is declared: "tensor", "i64"
  std::vector<std::int64_t> shape;
};
/// nullptr: no tensor has this name.
using FindTensor = std::function<const TensorType*(std::string_view name)>;

struct RuntimeCall {
  std::string network, design;  ///< names, which the program does not have
  std::string text;             ///< both declarations, to stand behind the program
  /// The design's task, where it is not to infer: "train(loss: ..)".
  void setTask(const std::string& task);
  struct Input {
    std::string name;
    std::string tensor;  ///< whose numbers it has; "": it was given by its shape
  };
  std::vector<Input> inputs;
};

/// `expression` is of `text`, a source of the workspace's session or of another; its names are looked up in the workspace's
/// program. Nothing: no tensor flows in it.
std::optional<RuntimeCall> runtimeCall(const driver::Workspace& workspace, const ast::Expr& expression, const Source& text,
                                       const FindTensor& findTensor);

}  // namespace tbem::repl
