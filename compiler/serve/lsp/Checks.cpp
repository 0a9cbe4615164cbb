// When programs are checked, and when it is told what there is to say.
#include "compiler/serve/lsp/Server.h"
#include "compiler/support/Bug.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace tbem::serve {

namespace {
/// The stages that may take long (pipeline/Stages.cpp): arrays are searched in the first, proofs follow the second.
constexpr std::string_view kArrays = "design", kRows = "graph";
/// A check that takes longer tells first what is known by then.
constexpr std::chrono::milliseconds kFirst{50};
}  // namespace

/// Checks a program of which it is not known what there is to say. False: there is none.
bool Server::checkNext() {
  for (auto& [uri, document] : documents) {
    if (document.isChecked()) continue;
    try {
      document.beginCheck();
      check = Check{&document, Clock::now(), std::nullopt};
      const Session& told = document.check();
      // What was known before the rows can be told first another time.
      const std::size_t known = check.before ? check.before->size() : told.sink.all().size();
      endCheck();
      document.showsRows = told.sink.all().size() > known;
      tell(document, told.sink.all());
      if (!told.sink.hasErrors()) {
        document.awaitCosts(++jobs);
        worker.ask({jobs, uri, document.path, document.text().all(), settings.load});
      }
    } catch (const Ended&) {
      endCheck();
    } catch (const Bug& bug) {
      endCheck();
      document.giveUp();
      log(fmt::format("this is a bug in tbemc: {}", bug.what()));
    }
    return true;
  }
  return false;
}

void Server::tell(Document& document, const std::deque<Diagnostic>& told) {
  notify("textDocument/publishDiagnostics", diagnosticsJson(document, told, *locations));
}

void Server::endCheck() {
  check = {};
  if (!tokenAtWork) return;
  notify("$/progress", {{"token", *tokenAtWork}, {"value", {{"kind", "end"}}}});
  tokenAtWork.reset();
}

void Server::stageBegins(std::string_view name, std::string_view /*help*/) {
  if (check.document != nullptr && (name == kArrays || name == kRows))
    check.before = check.document->reading().workspace.session.sink.all();
  listen();
}

void Server::progress(std::size_t /*done*/, std::size_t /*total*/, std::string_view /*what*/) {
  tellFirst();
  listen();
}

/// Of a check that takes long, what is known of the text before its rows are looked at: else the mistakes of the text before,
/// which may be mended, would stand that long. Where rows had something to say it stands until it is known whether they still
/// have.
void Server::tellFirst() {
  if (check.document == nullptr || !check.before || check.toldFirst || Clock::now() < check.begin + kFirst) return;
  check.toldFirst = true;
  if (tokenHolds) {
    tokenAtWork = std::exchange(token, std::nullopt);
    tokenHolds = false;
    notify("$/progress", {{"token", *tokenAtWork}, {"value", {{"kind", "begin"}, {"title", "checking rows and proofs"}}}});
    askToken();
  }
  if (!check.document->showsRows) tell(*check.document, *check.before);
}

void Server::askToken() {
  if (!showsProgress || token) return;
  // The request names the token, which is its own id.
  const std::string name = fmt::format("tbemc-{}", requests + 1);
  token = request("window/workDoneProgress/create", {{"token", name}});
}

/// Answers what has come while a check runs. What is no request may change what is checked, and ends it.
void Server::listen() {
  if (check.document == nullptr) return;
  while (std::optional<Json> message = received()) {
    if (message->is_object() && !message->contains("id")) {
      held = std::move(message);
      throw Ended();
    }
    handle(*message);
  }
}

/// What was computed of a program. False: nothing is there.
bool Server::takeCosts() {
  std::optional<CostWorker::Result> result = worker.take();
  if (!result) return false;
  const auto found = documents.find(result->uri);
  if (found == documents.end() || !found->second.takeCosts(result->number, std::move(result->costs))) return true;
  if (!result->bug.empty()) log(fmt::format("this is a bug in tbemc: {}", result->bug));
  if (refreshesHints) request("workspace/inlayHint/refresh");
  if (refreshesLenses) request("workspace/codeLens/refresh");
  return true;
}

}  // namespace tbem::serve
