// What happens while a stage works: how far it is, and what is worth a note. Who listens decides what becomes of it.
#pragma once

#include <cstddef>
#include <string_view>

namespace tbem {

class Events {
public:
  virtual ~Events() = default;
  /// A stage of the pipeline, and what it does ("networks as graphs, ..").
  virtual void stageBegins(std::string_view /*name*/, std::string_view /*help*/) {}
  /// Its result is there, or why there is none.
  virtual void stageEnds(std::string_view /*name*/, double /*seconds*/) {}
  /// `done` of `total` (0: not known), and what is in hand. Often: a listener draws only now and then.
  virtual void progress(std::size_t /*done*/, std::size_t /*total*/, std::string_view /*what*/) {}
  /// The work of which there was progress has ended.
  virtual void rest() {}
  /// Code of the program's own is about to be opened. Returns whether that was told.
  struct OwnLibrary {
    enum class Told { Never, OtherContent, Before };
    std::string_view path, sha256;
    Told told = Told::Never;  ///< what was told of this path until now
  };
  virtual bool opensLibrary(const OwnLibrary& /*library*/) { return false; }
  /// A sentence beside the result.
  virtual void note(std::string_view /*text*/) {}
};

}  // namespace tbem
