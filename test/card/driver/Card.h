// The card as a driver has it: what was initialised, allocated, loaded, captured, and the failure that sticks.
#pragma once

#include "test/card/code/Load.h"
#include "test/card/run/Launch.h"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tbem::card {

enum Result : int {
#define TBEM_CARD_ERROR(number, name, text) CUDA_##name = number,
#include "test/card/driver/Errors.def"
#undef TBEM_CARD_ERROR
};

struct Card;
/// What a stream was asked; answers a Result. Runs at once, or when the graph that it was captured in is launched.
using Work = std::function<int(Card& card)>;

struct Module;

struct KernelHandle {
  const Module* module = nullptr;
  const Function* function = nullptr;
  std::uint64_t mostDynamicShared = 0;
};

struct Module {
  LoadedProgram loaded;
  std::map<std::string, std::unique_ptr<KernelHandle>, std::less<>> kernels;
};

struct Stream {
  bool capturing = false, invalidated = false;
  int captureMode = 0;
  std::vector<Work> captured;
};

struct Event {
  std::optional<double> seconds;  ///< when it was recorded last
};

struct Graph {
  std::vector<Work> work;
  void* last = nullptr;                                             ///< the node that was added last
  std::vector<std::pair<std::uint64_t, std::uint32_t>> conditions;  ///< what each is when a launch begins
};

// A handle is the address of what it stands for.
template <class T>
using Owned = std::vector<std::unique_ptr<T>>;

template <class T>
T* find(const Owned<T>& all, const void* handle) {
  for (const auto& one : all)
    if (one.get() == handle) return one.get();
  return nullptr;
}

template <class T>
int destroy(Owned<T>& all, const void* handle) {
  const std::size_t count = std::erase_if(all, [&](const auto& one) { return one.get() == handle; });
  return count == 0 ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

struct Card {
  explicit Card(const Settings& of) : settings(of), memory(of.memory) {}
  ~Card();  ///< writes what is left (Settings::left)
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;

  Settings settings;
  Memory memory;
  std::recursive_mutex mutex;
  bool initialised = false;
  bool retained = false;  ///< the primary context
  int sticky = CUDA_SUCCESS;
  std::map<std::string, unsigned, std::less<>> calls;  ///< so far, by function
  Owned<Module> modules;
  Owned<Stream> streams;
  Owned<Event> events;
  Owned<Graph> graphs, executables;
  Owned<Graph> bodies;     ///< of conditional nodes; the driver's own
  Owned<void*> bodyLists;  ///< that it gives away
  Conditions conditions;
  std::uintptr_t nodes = 0;  ///< made so far
  std::uint32_t launches = 0;
  std::uint64_t executed = 0;  ///< instructions of threads
};

/// The process's card. Made from the environment when it is first asked for.
Card& theCard();
/// Takes the process's card away and puts a new one there: for tests.
void replaceCard(const Settings& settings);

/// Writes a line where Settings::report says.
void report(const Card& card, const std::string& text);

/// Writes a module's text where Settings::keep says, under a name that its contents give.
void keep(const Card& card, std::string_view text);

/// Bytes of shared memory that a block can have if its kernel asks for them.
std::uint64_t mostSharedOf(const Settings& settings);

/// What every function asks first.
struct Asks {
  bool context = true;           ///< a current context, and no failure that sticks
  bool unsafeInCapture = false;  ///< while any stream captures, but in relaxed mode
};
/// CUDA_SUCCESS, or what the function must answer at once.
int enter(Card& card, const char* function, const Asks& asks = {});

/// The context that is current for this thread.
const void*& currentContext();

struct Shape {
  unsigned grid[3], threads[3], sharedBytes;
};
/// The start of a kernel as work; a Result. `arguments` point at the values of its parameters.
int launchWork(Card& card, const void* kernel, const Shape& shape, void* const* arguments, Work& work);
/// All of it in order, up to the first that fails.
int runAll(Card& card, const std::vector<Work>& work);

/// Runs the work, or keeps it if the stream captures. A null stream is the default one.
int submit(Card& card, void* stream, Work work);

}  // namespace tbem::card
