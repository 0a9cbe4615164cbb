// tbemc lsp: the language server, over standard input and output.
#include "compiler/driver/Commands.h"
#include "compiler/serve/lsp/Server.h"
#include "compiler/serve/lsp/StandardInput.h"
#include "compiler/show/Out.h"
#include "compiler/support/PrivateFolder.h"
#include "compiler/support/Version.h"

namespace tbem::driver {

namespace {

struct LspOptions : CommandOptions {
  bool stdio = false;
};

void declare(OptionList& list, LspOptions& o) {
  list.flag("--stdio", o.stdio, "over standard input and output, as it is without: some editors say it");
}

std::string unheeded(const Given& /*given*/, const LspOptions& /*options*/) { return {}; }

int run(show::Out& out, const LspOptions& /*options*/) {
  const auto folder = TemporaryFolder::make();
  if (!folder) {
    out.failure(folder.error());
    return kEnvironment;
  }
  serve::StreamChannel channel(serve::readStandardInput, [&](std::string_view message) {
    out.data(message);
    out.flush();
  });
  // By its name a file in it is known as one of the library, whose private names it may use.
  serve::Server server(channel, {sema::LoadOptions::fromEnvironment(), kVersion, folder->path() + "/stdlib"});
  // As the protocol has it: an `exit` without `shutdown`, and an editor that is gone, end it with 1.
  return server.run() ? kOk : 1;
}

}  // namespace

const Command kLsp = {"lsp", "the language server, for editors", Takes::Own, false,
                      invocation<LspOptions, declare, unheeded, run>};

}  // namespace tbem::driver
