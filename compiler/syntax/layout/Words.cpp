#include "compiler/syntax/layout/Words.h"

#include "compiler/support/Units.h"

#include <TbemParser.h>

#include <algorithm>
#include <unordered_map>

namespace tbem::syntax {

namespace {
using P = grammar::TbemParser;
}

const std::vector<SoftWord>& softWords() {
  using enum WordClass;
  static const std::vector<SoftWord> words{
      {"tbem", P::TBEM, Declaration},
      {"private", P::PRIVATE, Declaration},
      {"import", P::IMPORT, Declaration},
      {"operator", P::OPERATOR, Declaration},
      {"block", P::BLOCK, Declaration},
      {"network", P::NETWORK, Declaration},
      {"function", P::FUNCTION, Declaration},
      {"process", P::PROCESS, Declaration},
      {"design", P::DESIGN, Declaration},
      {"measure", P::MEASURE, Declaration},
      {"regress", P::REGRESS, Declaration},
      {"predict", P::PREDICT, Declaration},
      {"fit", P::FIT, Declaration},
      {"dataset", P::DATASET, Declaration},
      {"train", P::TRAIN, Declaration},
      {"perturb", P::PERTURB, Declaration},
      {"assume", P::ASSUME, Declaration},
      {"mutate", P::MUTATE, Declaration},
      {"end_process", P::END_PROCESS, Header},
      {"pre", P::PRE, Header},
      {"post", P::POST, Header},
      {"requires", P::REQUIRES, Header},
      {"elementwise", P::ELEMENTWISE, Header},
      {"native", P::NATIVE, Header},
      {"flops", P::FLOPS, Header},
      {"workspace", P::WORKSPACE, Header},
      {"backward", P::BACKWARD, Header},
      {"updates", P::UPDATES, Header},
      {"fallback", P::FALLBACK, Header},
      {"ext", P::EXT, Header},
      {"comment", P::REMARK, Header},
      {"weight", P::WEIGHT, Anywhere},
      {"buffer", P::BUFFER, Anywhere},
      {"factor", P::FACTOR, Body},
      {"input", P::INPUT, Body},
      {"assert", P::ASSERT, Body},
      {"of", P::OF, Connector},
      {"on", P::ON, Connector},
      {"at", P::AT, Connector},
      {"into", P::INTO, Connector},
      {"from", P::FROM, Connector},
      {"over", P::OVER, Connector},
      {"by", P::BY, Connector},
      {"step", P::STEP, Connector},
      {"as", P::AS, Connector},
      {"init", P::INIT, Connector},
      {"after", P::AFTER, Connector},
      {"before", P::BEFORE, Connector},
      {"under", P::UNDER, Connector},
      {"rem", P::REM, Connector},
      {"inset", P::INSET, Connector},
      {"notin", P::NOTIN, Connector},
  };
  return words;
}

const SoftWord* findSoftWord(std::string_view text) {
  static const std::unordered_map<std::string_view, const SoftWord*> index = [] {
    std::unordered_map<std::string_view, const SoftWord*> map;
    for (const SoftWord& word : softWords()) map.emplace(word.text, &word);
    return map;
  }();
  const auto found = index.find(text);
  return found == index.end() ? nullptr : found->second;
}

const std::vector<std::string_view>& reservedWords() {
  static const std::vector<std::string_view> words{"and",    "or",     "not",  "div",  "cdiv", "mod",    "if",   "then",
                                                   "else",   "for",    "in",   "let",  "var",  "return", "true", "false",
                                                   "forall", "exists", "skip", "exit", "when", "leaving"};
  return words;
}

bool isUnitWord(std::string_view text) { return findUnit(text) != nullptr; }

}  // namespace tbem::syntax
