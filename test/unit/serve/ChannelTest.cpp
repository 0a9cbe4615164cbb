// Messages out of a stream that is cut anywhere.
#include "compiler/serve/lsp/Channel.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace tbem::serve {
namespace {

TEST(Framing, AnyCutGivesTheSameMessages) {
  const std::vector<std::string> messages = {"{\"a\":1}", "", "{\"text\":\"Content-Length: 3\\r\\n\\r\\n\"}",
                                             std::string(5000, 'x')};
  std::string stream;
  for (const std::string& one : messages) stream += framed(one);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{64}, stream.size()}) {
    Framing framing;
    std::vector<std::string> read;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      framing.add(std::string_view(stream).substr(at, piece));
      while (auto message = framing.next()) read.push_back(*message);
    }
    EXPECT_EQ(read, messages) << piece;
  }
}

TEST(Framing, OtherFieldsAndLettersOfAnyCase) {
  Framing framing;
  framing.add("Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-LENGTH:2\r\n\r\nok");
  EXPECT_EQ(framing.next(), "ok");
}

TEST(Framing, AHeaderWithoutALengthIsSkipped) {
  for (const char* header :
       {"Hello: you", "Content-Length: many", "Content-Length: -3", "Content-Length: 99999999999999999999"}) {
    Framing framing;
    framing.add(std::string(header) + "\r\n\r\n" + framed("{}"));
    EXPECT_EQ(framing.next(), "{}") << header;
    EXPECT_EQ(framing.next(), std::nullopt);
  }
}

TEST(StreamChannel, ReadsAheadAndEnds) {
  std::vector<std::optional<std::string>> pieces = {framed("one") + "Content-", std::nullopt, "Length: 3\r\n\r\ntw", "o", ""};
  std::size_t next = 0;
  std::string sent;
  StreamChannel channel([&] { return pieces[next < pieces.size() ? next++ : pieces.size() - 1]; },
                        [&](std::string_view bytes) { sent += bytes; });
  EXPECT_TRUE(channel.await());
  EXPECT_EQ(channel.next(), "one");
  EXPECT_TRUE(channel.await());
  EXPECT_EQ(channel.next(), "two");
  EXPECT_FALSE(channel.await());
  EXPECT_EQ(channel.next(), std::nullopt);
  channel.send("{}");
  EXPECT_EQ(sent, "Content-Length: 2\r\n\r\n{}");
}

TEST(StreamChannel, LeavesAStreamThatStaysOpen) {
  StreamChannel channel([]() -> std::optional<std::string> { return std::nullopt; }, [](std::string_view) {});
  EXPECT_EQ(channel.next(), std::nullopt);
}

TEST(StreamChannel, IsWokenWithoutAMessage) {
  StreamChannel channel([]() -> std::optional<std::string> { return std::nullopt; }, [](std::string_view) {});
  std::thread other([&] { channel.wake(); });
  EXPECT_TRUE(channel.await());
  EXPECT_EQ(channel.next(), std::nullopt);
  other.join();
}

}  // namespace
}  // namespace tbem::serve
