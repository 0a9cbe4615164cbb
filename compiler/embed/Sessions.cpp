// tbem.h: sessions, questions and results.
#include "compiler/embed/Guard.h"
#include "compiler/embed/Handles.h"
#include "compiler/support/Version.h"

#include <cstring>
#include <utility>

using namespace tbem::embed;

tbem_result::tbem_result(Answer given) : answer(std::move(given)) {
  for (const std::string& line : answer.lines) json += line + "\n";
}

namespace tbem::embed {

const char* wrongOptions(const tbem_option* options, std::size_t count) {
  if (options == nullptr) return count == 0 ? "" : "`options` is null";
  for (std::size_t i = 0; i < count; ++i) {
    if (options[i].name == nullptr) return "the name of an option is null";
  }
  return "";
}

tbem_outcome hand(Answer answer, std::string& error, tbem_result** out) {
  error = answer.error;
  const tbem_outcome outcome = answer.outcome;
  if (out != nullptr) *out = new tbem_result(std::move(answer));
  return outcome;
}

namespace {

tbem_outcome misused(std::string& error, const char* why) {
  error = why;
  return TBEM_MISUSE;
}

tbem_outcome ask(tbem_session* session, Question question, const tbem_option* options, std::size_t count, tbem_result** out) {
  if (out != nullptr) *out = nullptr;
  if (session == nullptr) return TBEM_MISUSE;
  return guarded(&session->error, [&] {
    if (out == nullptr) return misused(session->error, "`out` is null");
    if (const char* wrong = wrongOptions(options, count); *wrong != '\0') return misused(session->error, wrong);
    return hand(session->session.ask(question, {options, count}), session->error, out);
  });
}

}  // namespace
}  // namespace tbem::embed

extern "C" {

uint32_t tbem_abi(void) { return TBEM_ABI; }
const char* tbem_version(void) { return tbem::kVersion; }

const char* tbem_outcome_name(tbem_outcome outcome) {
  switch (outcome) {
    case TBEM_DONE:
      return "done";
    case TBEM_PROGRAM_ERRORS:
      return "program errors";
    case TBEM_USAGE:
      return "usage";
    case TBEM_ENVIRONMENT:
      return "environment";
    case TBEM_RUN_FAILED:
      return "run failed";
    case TBEM_VERDICT_AGAINST:
      return "verdict against";
    case TBEM_NO_MEMORY:
      return "no memory";
    case TBEM_MISUSE:
      return "misuse";
    case TBEM_INTERNAL:
      return "internal";
  }
  return "unknown";
}

tbem_outcome tbem_session_new(const tbem_settings* settings, tbem_session** out) {
  if (out == nullptr) return TBEM_MISUSE;
  *out = nullptr;
  return guarded(nullptr, [&] {
    tbem::driver::Places places;
    if (settings != nullptr) {
      if (settings->size != sizeof *settings || (settings->modules == nullptr && settings->module_count != 0)) return TBEM_MISUSE;
      for (uint32_t i = 0; i < settings->module_count; ++i) {
        if (settings->modules[i] == nullptr) return TBEM_MISUSE;
        places.modules.emplace_back(settings->modules[i]);
      }
      if (settings->stdlib != nullptr) places.stdlib = settings->stdlib;
      if (settings->cache != nullptr) places.cache = settings->cache;
    }
    *out = new tbem_session(std::move(places));
    return TBEM_DONE;
  });
}

void tbem_session_free(tbem_session* session) { delete session; }
const char* tbem_session_error(const tbem_session* session) { return session == nullptr ? "" : session->error.c_str(); }

tbem_outcome tbem_load(tbem_session* session, const char* name, const char* text, size_t bytes) {
  if (session == nullptr) return TBEM_MISUSE;
  return guarded(&session->error, [&] {
    if (text == nullptr) return misused(session->error, "`text` is null");
    if (bytes != 0 && std::memchr(text, '\0', bytes) != nullptr) {
      session->error = "the text has a 0 in it: it is no program";
      return TBEM_USAGE;
    }
    session->session.load(name == nullptr ? "" : name, std::string(text, bytes));
    return TBEM_DONE;
  });
}

tbem_outcome tbem_import(tbem_session* session, const char* network, const char* document, size_t bytes, tbem_result** out) {
  if (out != nullptr) *out = nullptr;
  if (session == nullptr) return TBEM_MISUSE;
  return guarded(&session->error, [&] {
    if (network == nullptr || document == nullptr || out == nullptr) return misused(session->error, "an argument is null");
    return hand(session->session.importModel(network, std::string(document, bytes)), session->error, out);
  });
}
const char* tbem_session_text(const tbem_session* session) { return session == nullptr ? "" : session->session.program(); }

tbem_outcome tbem_check(tbem_session* session, const tbem_option* options, size_t count, tbem_result** out) {
  return ask(session, Question::Check, options, count, out);
}
tbem_outcome tbem_estimate(tbem_session* session, const tbem_option* options, size_t count, tbem_result** out) {
  return ask(session, Question::Estimate, options, count, out);
}
tbem_outcome tbem_fit(tbem_session* session, const tbem_option* options, size_t count, tbem_result** out) {
  return ask(session, Question::Fit, options, count, out);
}
tbem_outcome tbem_what_if(tbem_session* session, const tbem_option* options, size_t count, tbem_result** out) {
  return ask(session, Question::WhatIf, options, count, out);
}
tbem_outcome tbem_spec(tbem_session* session, const tbem_option* options, size_t count, tbem_result** out) {
  return ask(session, Question::Spec, options, count, out);
}

void tbem_result_free(tbem_result* result) { delete result; }
const char* tbem_result_json(const tbem_result* result) { return result == nullptr ? "" : result->json.c_str(); }
size_t tbem_result_line_count(const tbem_result* result) { return result == nullptr ? 0 : result->answer.lines.size(); }
const char* tbem_result_line(const tbem_result* result, size_t number) {
  return number < tbem_result_line_count(result) ? result->answer.lines[number].c_str() : nullptr;
}
const char* tbem_result_error(const tbem_result* result) { return result == nullptr ? "" : result->answer.error.c_str(); }
const char* tbem_result_notes(const tbem_result* result) { return result == nullptr ? "" : result->answer.notes.c_str(); }

}  // extern "C"
