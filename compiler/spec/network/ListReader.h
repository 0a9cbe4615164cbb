// Lists whose numbers are not known: an element at an unknown place, and what functions on shapes make of them.
// Internal to this folder.
#pragma once

#include "compiler/spec/process/Reader.h"

namespace tbem::spec {

class ListReader : public Reader {
public:
  using Reader::Reader;

protected:
  std::optional<sema::Value> specialCall(std::string_view name, const ast::Call& call) override;
  /// By position; what has none is not read where the conditions hold.
  std::optional<sema::Value> elementAt(const sema::Value& list, ExprId position) override;

private:
  sema::Value broadcastOf(const ast::Call& call);
  std::optional<sema::Value> dropped(const ast::Call& call);
  std::optional<sema::Value> replaced(const ast::Call& call);
};

}  // namespace tbem::spec
