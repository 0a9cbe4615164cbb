// "Cubins" of the nvJitLink of the tests, which the card of the tests takes: PTX behind a line that says for which architecture.
#pragma once

#include <string>
#include <string_view>

namespace tbem::standin {

/// What begins one; the name of the architecture, a line's end and PTX with a zero follow.
constexpr std::string_view kCodeOf = "\177ELF of the tests for ";

}  // namespace tbem::standin
