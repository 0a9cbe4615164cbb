// The language server: what an editor asks of the programs that are open in it (Language Server Protocol 3.17).
//
// Requests are answered in order, from the program as it was read last, which takes no proof and no code. In between the programs
// that were edited are checked. A check listens: what comes meanwhile is answered at once, and an edit ends it. So what is told
// at last of a text is what `tbemc check` says of it.
#pragma once

#include "compiler/emit/OrderedJson.h"
#include "compiler/sema/Modules.h"
#include "compiler/serve/lsp/Channel.h"
#include "compiler/serve/lsp/Convert.h"
#include "compiler/serve/lsp/CostWorker.h"
#include "compiler/serve/lsp/Document.h"
#include "compiler/support/Events.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tbem::serve {

struct ServerSettings {
  sema::LoadOptions load;
  std::string version;        ///< of the program, which an editor may show
  std::string libraryFolder;  ///< where files of the standard library are written when an editor is to open them
};

class Server final : private Events {
public:
  /// `channel` outlives this.
  Server(Channel& channel, ServerSettings settings);

  /// Serves until `exit` or the end of the channel. Whether `exit` came behind `shutdown`.
  bool run();

private:
  struct Refused;
  struct Ended {};  ///< thrown through a check that an edit ends
  using Answer = Json (Server::*)(const Json& parameters);
  using Notice = void (Server::*)(const Json& parameters);
  static const std::map<std::string_view, Answer>& answers();
  static const std::map<std::string_view, Notice>& notices();

  // Messages
  void handle(const Json& message);
  void answer(const Json& id, const std::string& method, const Json& parameters);
  void notice(const std::string& method, const Json& parameters);
  void reply(const Json& id, Json result);
  void refuse(const Json& id, int code, const std::string& why);
  void notify(const char* method, Json parameters);
  void log(const std::string& message);
  /// A request of the server's own: its id.
  std::string request(const char* method, Json parameters = {});
  std::optional<Json> received();

  // Checks (Checks.cpp)
  bool checkNext();
  void tell(Document& document, const std::deque<Diagnostic>& told);
  void tellFirst();
  void endCheck();
  void askToken();
  void progress(std::size_t done, std::size_t total, std::string_view what) override;
  void stageBegins(std::string_view name, std::string_view help) override;
  void listen();
  bool takeCosts();

  // Notices
  void opened(const Json& parameters);
  void changed(const Json& parameters);
  void closed(const Json& parameters);
  void exit(const Json& parameters);
  void initialized(const Json& parameters);
  void ignored(const Json& parameters);

  // Answers (Answers.cpp)
  Json initialize(const Json& parameters);
  Json shutdown(const Json& parameters);
  Json hover(const Json& parameters);
  Json definition(const Json& parameters);
  Json references(const Json& parameters);
  Json highlights(const Json& parameters);
  Json prepareRename(const Json& parameters);
  Json renamed(const Json& parameters);
  Json completion(const Json& parameters);
  Json symbols(const Json& parameters);
  Json folds(const Json& parameters);
  Json tokens(const Json& parameters);
  Json formatted(const Json& parameters);
  Json actions(const Json& parameters);
  Json signature(const Json& parameters);
  Json hints(const Json& parameters);
  Json lenses(const Json& parameters);
  Document& document(const Json& parameters);
  Json edits(Document& document, const std::vector<SrcRange>& places, const std::string& name);

  Channel& channel;
  ServerSettings settings;
  Encoding encoding = Encoding::Utf16;
  std::optional<Locations> locations;  ///< after `initialize`
  std::map<std::string, Document, std::less<>> documents;
  std::optional<Json> held;  ///< a message that ended a check
  using Clock = std::chrono::steady_clock;
  /// The one that runs.
  struct Check {
    Document* document = nullptr;  ///< nullptr: none
    Clock::time_point begin;
    std::optional<std::deque<Diagnostic>> before;  ///< what there is to say before rows; nothing: it has not come there
    bool toldFirst = false;
  };
  Check check;
  bool shuttingDown = false, leaving = false;
  bool refreshesHints = false, refreshesLenses = false;  ///< the editor asks again when it is told to
  bool showsProgress = false;                            ///< the editor does
  std::optional<std::string> token;                      ///< of the next progress
  bool tokenHolds = false;                               ///< the editor knows it
  std::optional<std::string> tokenAtWork;                ///< of the progress that is shown
  std::uint64_t jobs = 0, requests = 0;                  ///< so far
  CostWorker worker;
};

}  // namespace tbem::serve
