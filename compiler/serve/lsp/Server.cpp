#include "compiler/serve/lsp/Server.h"

#include "compiler/serve/lsp/Refused.h"
#include "compiler/support/Bug.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <utility>

namespace tbem::serve {

namespace {
// JSON-RPC 2.0, section 5.1, and LSP's ErrorCodes
constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601, kInvalidParams = -32602,
              kInternal = -32603, kNotInitialized = -32002;
/// So long nothing is edited before it is computed what a program takes.
constexpr std::chrono::milliseconds kQuiet{200};

}  // namespace

Server::Server(Channel& channel, ServerSettings settings)
    : channel(channel), settings(std::move(settings)), worker([&channel] { channel.wake(); }, kQuiet) {}

const std::map<std::string_view, Server::Notice>& Server::notices() {
  static const std::map<std::string_view, Notice> table = {
      {"textDocument/didOpen", &Server::opened},  {"textDocument/didChange", &Server::changed},
      {"textDocument/didClose", &Server::closed}, {"textDocument/didSave", &Server::ignored},
      {"initialized", &Server::initialized},      {"exit", &Server::exit},
  };
  return table;
}

bool Server::run() {
  while (!leaving) {
    if (const std::optional<Json> message = received())
      handle(*message);
    else if (!checkNext() && !takeCosts() && !channel.await())
      return false;
  }
  return shuttingDown;
}

// ---- Messages -------------------------------------------------------------------------------------------------------

std::optional<Json> Server::received() {
  if (held) return std::exchange(held, std::nullopt);
  while (true) {
    const std::optional<std::string> text = channel.next();
    if (!text) return std::nullopt;
    Json message = Json::parse(*text, nullptr, false);
    if (!message.is_discarded()) return message;
    refuse(nullptr, kParseError, "this is no JSON");
  }
}

void Server::handle(const Json& message) {
  const bool called = message.is_object() && message.contains("method") && message["method"].is_string();
  if (!called) {
    // Answers to what the server asked have no method.
    const bool isAnswer = message.is_object() && (message.contains("result") || message.contains("error"));
    if (!isAnswer) return refuse(nullptr, kInvalidRequest, "a message has a `method`");
    if (token && message.value("id", Json()) == *token) tokenHolds = message.contains("result");
    return;
  }
  const std::string method = message["method"].get<std::string>();
  const Json parameters = message.value("params", Json::object());
  if (!message.contains("id"))
    notice(method, parameters);
  else
    answer(message["id"], method, parameters);
}

void Server::answer(const Json& id, const std::string& method, const Json& parameters) {
  const auto found = answers().find(method);
  if (found == answers().end()) return refuse(id, kMethodNotFound, fmt::format("`{}` is not served", method));
  if (!locations && method != "initialize") return refuse(id, kNotInitialized, "`initialize` comes first");
  if (shuttingDown) return refuse(id, kInvalidRequest, "the server was shut down");
  try {
    reply(id, (this->*found->second)(parameters));
  } catch (const Refused& why) {
    refuse(id, kInvalidParams, why.message);
  } catch (const Json::exception& wrong) {
    refuse(id, kInvalidParams, wrong.what());
  } catch (const Bug& bug) {
    refuse(id, kInternal, fmt::format("this is a bug in tbemc: {}", bug.what()));
  }
}

void Server::notice(const std::string& method, const Json& parameters) {
  const auto found = notices().find(method);
  if (found == notices().end()) return;  // `$/` and what is not served: as the protocol has it
  if (!locations && method != "exit") return;
  try {
    (this->*found->second)(parameters);
  } catch (const Json::exception& wrong) {
    log(fmt::format("`{}`: {}", method, wrong.what()));
  }
}

void Server::reply(const Json& id, Json result) {
  channel.send(
      Json{{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}}.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void Server::refuse(const Json& id, int code, const std::string& why) {
  const Json error = {{"code", code}, {"message", why}};
  channel.send(Json{{"jsonrpc", "2.0"}, {"id", id}, {"error", error}}.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void Server::notify(const char* method, Json parameters) {
  channel.send(Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(parameters)}}.dump(
      -1, ' ', false, Json::error_handler_t::replace));
}

void Server::log(const std::string& message) {
  constexpr int kError = 1;  // MessageType
  notify("window/logMessage", {{"type", kError}, {"message", message}});
}

std::string Server::request(const char* method, Json parameters) {
  std::string id = fmt::format("tbemc-{}", ++requests);
  Json message = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  if (!parameters.is_null()) message["params"] = std::move(parameters);
  channel.send(message.dump());
  return id;
}

// ---- Notices --------------------------------------------------------------------------------------------------------

void Server::opened(const Json& parameters) {
  const Json& item = parameters.at("textDocument");
  const auto uri = item.at("uri").get<std::string>();
  documents.erase(uri);
  worker.drop(uri);
  documents.try_emplace(uri, uri, Text(item.at("text").get<std::string>(), encoding), item.at("version").get<std::int64_t>(),
                        settings.load, static_cast<Events&>(*this));
}

void Server::changed(const Json& parameters) {
  const auto found = documents.find(parameters.at("textDocument").at("uri").get<std::string>());
  if (found == documents.end()) return;
  worker.drop(found->first);
  Text text = found->second.text();
  for (const Json& change : parameters.at("contentChanges")) {
    const auto with = change.at("text").get<std::string>();
    if (change.contains("range"))
      text.replace(spanOf(change["range"]), with);
    else
      text = Text(with, encoding);
  }
  found->second.change(std::move(text), parameters.at("textDocument").at("version").get<std::int64_t>());
}

void Server::closed(const Json& parameters) {
  const auto uri = parameters.at("textDocument").at("uri").get<std::string>();
  worker.drop(uri);
  if (documents.erase(uri) != 0) notify("textDocument/publishDiagnostics", {{"uri", uri}, {"diagnostics", Json::array()}});
}

void Server::exit(const Json& /*parameters*/) { leaving = true; }
void Server::initialized(const Json& /*parameters*/) { askToken(); }
void Server::ignored(const Json& /*parameters*/) {}

}  // namespace tbem::serve
