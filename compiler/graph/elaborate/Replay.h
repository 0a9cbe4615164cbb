// Applications that were elaborated, so that an equal one is copied instead of being elaborated again. Internal to this folder.
//
// What an application adds to the graph depends on its declaration, its parameters and the types of its tensors: of a network
// of a hundred equal blocks one is elaborated. The copy is the same to the last name and range. Not copied is what sees more of
// the place where it is applied (it writes a tensor from outside into a buffer, or is given its own weights), what has effects
// outside of the graph's forward pass (a place that a `mutate` changes, a recorded call, margins of gates for a search, draws
// of REINFORCE), what is given tensors or instances as parameters, and what reports anything.
#pragma once

#include "compiler/graph/elaborate/Activation.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tbem::graph {

class Elaborator;

class Replay {
public:
  /// Where an application is made: what of its result does not follow from its key.
  struct Place {
    std::string path;
    SrcRange use, range;       ///< as Activation's
    bool isInherited = false;  ///< `range` is that of an outer application
    ScopeId scope{};           ///< that it stands in
    RegionId region{};
    std::vector<TensorId> tensors;  ///< given to it, those of lists one by one
  };
  /// How much of everything there is.
  struct Extent {
    std::size_t ops = 0, tensors = 0, storages = 0, regions = 0, scopes = 0, obligations = 0;
    std::size_t weights = 0, buffers = 0, instances = 0, ownGradients = 0;
  };
  /// What an application's result depends on, in numbers.
  using Key = std::vector<std::uint64_t>;
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  /// An application that has begun.
  struct Begun {
    Key key = {};  ///< empty: it will not be kept
    Place place;
    Extent first = {};
    std::size_t diagnostics = 0, drawn = 0, shared = 0, declarations = 0, written = 0;
    const ast::Expr* named = nullptr;  ///< Elaborator::named
  };

  /// To be called before the application binds anything; its path is that of `place`. `rank`: Activation::rank.
  Begun begin(const Elaborator& elaborator, const Application& application, Place place, int rank);
  /// The application's result, copied from an equal one. Nothing: there is none that can be copied here.
  std::optional<sema::Value> copy(Elaborator& elaborator, const Begun& begun);
  /// Keeps what was elaborated.
  void end(const Elaborator& elaborator, Begun begun, const sema::Value& result);

  /// A weight, buffer or instance was there already, since a shared block is applied again.
  void noteShared() { ++shared; }
  /// A result of the last operator got another storage: what ended with it is no longer what its application made.
  void noteMoved(std::size_t operators);
  /// A tensor is written into a buffer. Whether it takes the buffer's storage itself depends on what was made last.
  void noteWritten(TensorId tensor) { written.push_back(tensor); }
  /// The operator draws random numbers by the path of its application.
  void noteRandom(OpId op, std::string path) { randoms.emplace(index(op), std::move(path)); }

private:
  struct Kept {
    Place place;
    Extent first, last;
    sema::Value result;
    bool shares = false;                             ///< it uses weights that were there: it can be copied to the same path alone
    bool isStale = false;                            ///< a result got another storage since
    std::vector<const ast::Callable*> declarations;  ///< that were applied in it, each once
    std::vector<std::pair<StorageId, TensorId>> newest;  ///< the values of its buffers when it ended
    std::optional<GivenName> named;                      ///< what it left of Elaborator::named
  };
  class Copier;

  static Extent extentOf(const Elaborator& elaborator);
  static void copyNames(Elaborator& elaborator, const Kept& from, const Copier& copier);
  void copyRandoms(Graph& graph, const Kept& from, const Copier& copier);
  bool isSelfContained(const Elaborator& elaborator, const Kept& kept) const;
  bool fits(const Elaborator& elaborator, const Kept& kept, const Place& place) const;

  std::deque<Kept> kept;                                               ///< in the order in which they ended
  std::unordered_map<Key, std::vector<std::uint32_t>, KeyHash> byKey;  ///< positions in `kept`
  Key scratch;                                                         ///< the key that is being put together
  std::unordered_map<std::uint32_t, std::string> randoms;
  std::vector<const ast::Callable*> declarations;  ///< applied so far
  std::vector<TensorId> written;                   ///< noteWritten, so far
  std::size_t shared = 0;
};

}  // namespace tbem::graph
