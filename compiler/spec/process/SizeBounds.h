// How many elements the sequences and sets of a process can have at most, as its conditions say. Internal to this folder.
#pragma once

#include "compiler/syntax/tree/Ast.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tbem::spec {

/// Bounds by name. What `post` says of an output, or `pre` of an input, counts where it stands before all else that is said of
/// its elements in each alternative: `len(t) = len(s) and ...`. What is longer then meets the condition nowhere, and nothing else
/// is read.
class SizeBounds {
public:
  using Highest = std::function<std::optional<std::int64_t>(const std::string& name)>;
  /// `highest`: the greatest value of a number that is an input or an output.
  SizeBounds(const ast::Process& process, Highest highest);

  /// Elements at most, and elements of each element at most: `forall[x: elems(s)] | len(x) <= 4`, or with `i: inds(s)` and
  /// `s(i)`.
  struct Most {
    std::optional<std::int64_t> elements, inside;
  };
  Most before(const std::string& name) const { return {find(inputs, name), find(insideInputs, name)}; }
  Most after(const std::string& name) const { return {find(outputs, name), find(insideOutputs, name)}; }

private:
  using Bounds = std::map<std::string, std::int64_t>;
  struct Found {
    bool mentions = false;
    std::optional<std::int64_t> bound;
  };
  static std::optional<std::int64_t> find(const Bounds& bounds, const std::string& name);
  void read(const ast::Expr* condition, const std::vector<std::string>& names, bool isPost);
  static bool isOfSizes(const ast::Expr& expr);
  bool mentions(const ast::Expr& expr, const std::string& name) const;
  Found inside(const ast::Expr& expr, const std::string& name) const;
  std::optional<std::int64_t> ofElements(const ast::Expr& expr, const std::string& name) const;
  std::optional<std::int64_t> sizeIn(const ast::Expr& body, const std::function<bool(const ast::Expr&)>& isSubject) const;
  std::optional<std::int64_t> compared(const ast::Binary& expr, const std::string& name) const;
  std::optional<std::int64_t> sizeBelow(const ast::Binary& expr, bool turned) const;
  std::optional<std::int64_t> numberAtMost(const ast::Expr& expr) const;
  std::optional<std::int64_t> sizeAtMost(const ast::Expr& expr) const;

  Highest highest;
  Bounds inputs, outputs, insideInputs, insideOutputs;
  std::vector<std::string> written;  ///< sequences and sets that `post` means the value after of
  bool inPost = false;
};

}  // namespace tbem::spec
