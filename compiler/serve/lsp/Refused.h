// Why a request is not answered. Internal to this folder.
#pragma once

#include "compiler/serve/lsp/Server.h"

#include <string>

namespace tbem::serve {

struct Server::Refused {
  std::string message;
};

}  // namespace tbem::serve
