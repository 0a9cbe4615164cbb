// What each kind of token means to the layout pass (the rule "statement ends" of the language).
#pragma once

#include <cstddef>

namespace tbem::syntax {

/// An infix operator, arithmetic or logical.
bool isInfix(std::size_t type);
/// A statement cannot end after this token.
bool wantsMore(std::size_t type);
/// A line that begins with this token goes on with the statement before.
bool continues(std::size_t type);
/// This token ends an operand: a call's `(`, an index's `[` or a connecting word may follow.
bool endsOperand(std::size_t type);
/// This token can begin an operand.
bool beginsOperand(std::size_t type);
/// A `{` after this token opens a record or a set.
bool opensLiteral(std::size_t type);
/// A word that begins a declaration, as the layout pass types it.
bool beginsDeclaration(std::size_t type);
/// A word that begins a clause of a header or a body and wants an operand.
bool beginsClause(std::size_t type);

}  // namespace tbem::syntax
