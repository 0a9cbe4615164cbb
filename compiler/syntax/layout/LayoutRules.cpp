#include "compiler/syntax/layout/LayoutRules.h"

#include <TbemParser.h>

namespace tbem::syntax {

namespace {
using P = grammar::TbemParser;
}

bool isInfix(std::size_t type) {
  switch (type) {
    case P::AND:
    case P::OR:
    case P::DIV:
    case P::CDIV:
    case P::MOD:
    case P::REM:
    case P::INSET:
    case P::NOTIN:
    case P::IFF:
    case P::IMPLIES:
    case P::EQ:
    case P::NE:
    case P::LE:
    case P::GE:
    case P::LT:
    case P::GT:
    case P::POW:
    case P::PLUS:
    case P::MINUS:
    case P::STAR:
    case P::SLASH:
    case P::PIPE:
    case P::RANGE:
    case P::RANGE_EQ:
      return true;
    default:
      return false;
  }
}

bool beginsDeclaration(std::size_t type) {
  switch (type) {
    case P::PRIVATE:
    case P::IMPORT:
    case P::OPERATOR:
    case P::BLOCK:
    case P::NETWORK:
    case P::FUNCTION:
    case P::PROCESS:
    case P::DESIGN:
    case P::MEASURE:
    case P::REGRESS:
    case P::PREDICT:
    case P::FIT:
    case P::DATASET:
    case P::TRAIN:
    case P::PERTURB:
    case P::ASSUME:
    case P::MUTATE:
      return true;
    default:
      return false;
  }
}

bool beginsClause(std::size_t type) {
  switch (type) {
    case P::PRE:
    case P::POST:
    case P::REQUIRES:
    case P::WEIGHT:
    case P::BUFFER:
    case P::ELEMENTWISE:
    case P::NATIVE:
    case P::FLOPS:
    case P::WORKSPACE:
    case P::BACKWARD:
    case P::UPDATES:
    case P::FALLBACK:
    case P::EXT:
    case P::REMARK:
    case P::FACTOR:
    case P::INPUT:
    case P::ASSERT:
      return true;
    default:
      return false;
  }
}

bool wantsMore(std::size_t type) {
  switch (type) {
    case P::REMARK:  // its text may be empty
      return false;
    case P::COMMA:
    case P::COLON:
    case P::ARROW:
    case P::BAR:
    case P::THEN:
    case P::ELSE:
    case P::WHEN:
    case P::LEAVING:
    case P::IN:
    case P::OF:
    case P::ON:
    case P::AT:
    case P::INTO:
    case P::FROM:
    case P::OVER:
    case P::BY:
    case P::STEP:
    case P::AS:
    case P::INIT:
    case P::AFTER:
    case P::BEFORE:
    case P::UNDER:
    case P::TBEM:
      return true;
    default:
      return isInfix(type) || beginsDeclaration(type) || beginsClause(type);
  }
}

bool continues(std::size_t type) {
  switch (type) {
    case P::ARROW:
    case P::LBRACE:
    case P::THEN:
    case P::ELSE:
    case P::WHEN:
    case P::LEAVING:
    case P::BAR:
    case P::FREE_TEXT:
      return true;
    default:
      return isInfix(type);
  }
}

bool endsOperand(std::size_t type) {
  switch (type) {
    case P::ID:
    case P::NUMBER:
    case P::UNIT:
    case P::STRING:
    case P::ENUMERATOR:
    case P::TRUE_:
    case P::FALSE_:
    case P::RPAREN:
    case P::RBRACK:
    case P::RCURLY:
      return true;
    default:
      return false;
  }
}

bool beginsOperand(std::size_t type) {
  switch (type) {
    case P::ID:
    case P::NUMBER:
    case P::STRING:
    case P::ENUMERATOR:
    case P::TRUE_:
    case P::FALSE_:
    case P::LPAREN:
    case P::LBRACK:
    case P::LCURLY:
    case P::TILDE:
    case P::IF:
    case P::ELLIPSIS:
      return true;
    default:
      return false;
  }
}

bool opensLiteral(std::size_t type) {
  switch (type) {
    case P::EQ:
    case P::COLON:
    case P::COMMA:
    case P::IN:
    case P::AT:
    case P::RETURN:
    case P::THEN:
    case P::BAR:
      return true;
    default:
      return isInfix(type);
  }
}

}  // namespace tbem::syntax
