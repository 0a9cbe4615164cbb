// Messages between the language server and an editor: JSON, each behind a header that says its length (Language Server Protocol
// 3.17, "Base Protocol").
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace tbem::serve {

/// Cuts a stream into messages.
class Framing {
public:
  void add(std::string_view bytes) { waiting += bytes; }
  /// The next message that is whole; nothing where more bytes are needed. A header without a length, or with one beyond what is
  /// kept, is skipped up to its end.
  std::optional<std::string> next();

private:
  std::string waiting;
};

/// With its header.
std::string framed(std::string_view message);

/// Where a server's messages come from and go to.
class Channel {
public:
  virtual ~Channel() = default;
  /// The next message; nothing where none is there.
  virtual std::optional<std::string> next() = 0;
  /// Until there is a message, or `wake` was called since the last time. False: there will be none any more.
  virtual bool await() = 0;
  /// From any thread.
  virtual void wake() = 0;
  virtual void send(std::string_view message) = 0;
};

/// A thread reads ahead, so that a long check can ask what has come meanwhile.
class StreamChannel final : public Channel {
public:
  /// Bytes as they come, "" at the end of the stream, nothing where none came for a while. Called in a thread of its own.
  using Read = std::function<std::optional<std::string>()>;
  /// `write` takes all.
  StreamChannel(Read read, std::function<void(std::string_view)> write);
  ~StreamChannel() override;
  StreamChannel(const StreamChannel&) = delete;
  StreamChannel& operator=(const StreamChannel&) = delete;

  std::optional<std::string> next() override;
  bool await() override;
  void wake() override;
  void send(std::string_view message) override { write(framed(message)); }

private:
  void readAll(const Read& read);

  std::mutex mutex;
  std::condition_variable arrived;
  std::deque<std::string> messages;
  bool ended = false;  ///< nothing more comes
  bool woken = false;
  bool leaving = false;
  std::function<void(std::string_view)> write;
  std::thread reader;
};

}  // namespace tbem::serve
