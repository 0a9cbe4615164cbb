// Files that torch.save of PyTorch 2.15 wrote (test/lit/inputs/frameworks/torch_files.py) against the same arrays as the
// safetensors library wrote them, and damaged and hostile pickles.
#include "test/SourceTree.h"
#include "test/unit/data/Temporary.h"

#include "runtime/data/ArrayFile.h"
#include "runtime/data/Pickle.h"
#include "runtime/data/Zip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

using namespace tbem::data;

namespace {

std::string recorded(const std::string& name) {
  const bool isTheirs = name.ends_with(".safetensors");
  return tbem::test::inSources((isTheirs ? "test/unit/data/torch/" : "test/fuzz/corpus/torchfile/") + name);
}

std::string slurp(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::map<std::string, std::string> textsOf(const ArrayFile& file) {
  std::map<std::string, std::string> texts;
  for (const ArrayView& array : file.arrays)
    texts[array.name] =
        array.dtype + shapeText(array.shape) + std::string(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return texts;
}

void expectAlike(const std::string& ours, const std::string& theirs) {
  const auto torch = ArrayFile::open(recorded(ours)), reference = ArrayFile::open(recorded(theirs));
  ASSERT_TRUE(torch) << torch.error();
  ASSERT_TRUE(reference) << reference.error();
  EXPECT_EQ(torch->format, ArrayFormat::Torch);
  EXPECT_EQ(torch->arrays.size(), reference->arrays.size()) << ours;
  EXPECT_EQ(textsOf(*torch), textsOf(*reference)) << ours;
}

std::string refusal(const std::string& name) {
  const auto file = ArrayFile::open(recorded(name));
  return file ? "read" : file.error();
}

/// The stream of PyTorch before 1.6 with this pickle and no storages.
std::string stream(const std::string& pickle) {
  const std::string magic("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", 15);
  return magic + "\x80\x02M\xe9\x03." + "\x80\x02}." + pickle + "\x80\x02].";
}
std::string errorOf(const std::string& pickle) {
  const auto file = parseTorchFile(stream(pickle));
  return file ? "read" : file.error();
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(TorchFile, HasTheArraysThatSafetensorsHas) {
  expectAlike("state.pth", "state.safetensors");
  expectAlike("stream.pth", "state.safetensors");
  expectAlike("protocol4.pth", "state.safetensors");
  expectAlike("types.pth", "types.safetensors");
  expectAlike("views.pth", "views.safetensors");
  expectAlike("nested.pth", "nested.safetensors");
}

TEST(TorchFile, TakesTheWeightsOfATraining) {
  expectAlike("training.pth", "training.safetensors");
  const auto file = ArrayFile::open(recorded("training.pth"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->metadata.at("read from"), "model_state_dict");
  EXPECT_EQ(file->metadata.at("not read"), "epoch, best, optimizer, classes, none");
}

TEST(TorchFile, RefusesWhatIsNoStateDict) {
  EXPECT_TRUE(has(refusal("model.pth"),
                  "its pickle cannot be read, at byte 2: `torch.nn.modules.container.Sequential` is a "
                  "function or class that is not known here: data is read, code is never run: write"))
      << refusal("model.pth");
  EXPECT_TRUE(has(refusal("complex.pth"), "`x`: the element type `torch.ComplexFloatStorage` is not read"))
      << refusal("complex.pth");
  EXPECT_TRUE(has(refusal("alone.pth"), "it is one tensor without a name")) << refusal("alone.pth");
  EXPECT_TRUE(has(refusal("expanded.pth"), "`x` is a view of 1000000 elements whose copy")) << refusal("expanded.pth");
  EXPECT_TRUE(has(refusal("empty.pth"), "it holds no tensor")) << refusal("empty.pth");
  EXPECT_TRUE(has(refusal("script.pt"), "it is a TorchScript program, which is code")) << refusal("script.pt");
}

TEST(TorchFile, RefusesCodeWithItsNameAndPlace) {
  // The pickle begins at byte 25 of the stream.
  EXPECT_TRUE(has(errorOf("\x80\x02"
                          "cos\nsystem\nX\x02" +
                          std::string(3, '\0') + "ls\x85R."),
                  "at byte 27: `os.system` is a"));
  EXPECT_TRUE(has(errorOf("\x80\x04\x8c\x08"
                          "builtins\x8c\x04"
                          "eval\x93."),
                  "`builtins.eval` is a function or class"));
  EXPECT_TRUE(has(errorOf("\x80\x02}i."), "opcode 0x69 calls a function or class"));
  EXPECT_TRUE(has(errorOf("\x80\x02}\x81."), "opcode 0x81 calls a function or class"));
  EXPECT_TRUE(has(errorOf("\x80\x02]}b."), "opcode 0x62 sets the state of an object"));
}

TEST(TorchFile, RefusesDamagedPickles) {
  EXPECT_TRUE(has(errorOf("\x80\x02R."), "nothing is left to work on"));
  EXPECT_TRUE(has(errorOf("\x80\x02K\x01)R."), "a call of what is no name"));
  EXPECT_TRUE(has(errorOf("\x80\x02}h\x05."), "memory place 5 holds nothing"));
  EXPECT_TRUE(has(errorOf("\x80\x02"
                          "ccollections"),
                  "the file ends within this opcode"));
  EXPECT_TRUE(has(errorOf("\x80\x02"
                          "ccollections\nOrderedDict\nK\x01\x85R."),
                  "made from a list, as Python 2 did"));
  EXPECT_TRUE(has(errorOf("\x80\x02]."), "it holds no dictionary of tensors"));
  // A dictionary that holds itself: the way down ends.
  EXPECT_TRUE(has(errorOf("\x80\x02}q\x01X\x01" + std::string(3, '\0') + "ah\x01s."), "more than 64 deep"));
}

/// Dictionaries each of which has the one before it twice: few bytes, 2^depth paths.
TEST(TorchFile, CountsPathsBeforeItTakesThem) {
  std::string pickle = "\x80\x02}q" + std::string(1, '\0');
  for (int depth = 1; depth < 60; ++depth) {
    const std::string inner = "h" + std::string(1, static_cast<char>(depth - 1));
    pickle += "}K\x01" + inner + "sK\x02" + inner + "sq" + std::string(1, static_cast<char>(depth));
  }
  EXPECT_TRUE(has(errorOf(pickle + "."), "its names are longer than 64 MiB together")) << errorOf(pickle + ".");
}

TEST(TorchFile, SurvivesMutants) {
  std::mt19937 random(7);
  std::size_t refused = 0;
  for (const char* name : {"stream.pth", "state.pth", "views.pth"}) {
    const std::string whole = slurp(recorded(name));
    for (int i = 0; i < 4000; ++i) {
      std::string bytes = whole;
      for (int k = 0; k < 2; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
      if (i % 3 == 0) bytes.resize(random() % bytes.size());
      refused += parseTorchFile(bytes) ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 5000U);
}

TEST(Zip, ReadsWhatIsAboveFourGiBByItsWideFields) {
  // The archive of torch.save has ZIP64's directory already; here an entry has its sizes and its place there, too.
  std::string archive = slurp(recorded("state.pth"));
  const auto plain = zipDirectory(archive);
  ASSERT_TRUE(plain) << plain.error();
  const std::size_t central = archive.find("PK\x01\x02");
  ASSERT_NE(central, std::string::npos);
  const auto number = [&](std::size_t at, int bytes) {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(archive[at + static_cast<std::size_t>(i)])) << (8 * i);
    return value;
  };
  std::string extra("\x01\0\x18\0", 4);
  for (const std::size_t field : {central + 24, central + 20, central + 42}) {
    for (int i = 0; i < 8; ++i) extra += static_cast<char>(number(field, 4) >> (8 * i));
    archive.replace(field, 4, "\xff\xff\xff\xff");
  }
  const std::size_t name = number(central + 28, 2);
  archive[central + 30] = static_cast<char>(extra.size());
  archive.insert(central + 46 + name, extra);
  const std::size_t locator = archive.rfind("PK\x06\x07");
  const std::uint64_t wide = number(locator + 8, 8) + extra.size();
  for (int i = 0; i < 8; ++i) archive[locator + 8 + static_cast<std::size_t>(i)] = static_cast<char>(wide >> (8 * i));
  const auto entries = zipDirectory(archive);
  ASSERT_TRUE(entries) << entries.error();
  ASSERT_EQ(entries->size(), plain->size());
  EXPECT_EQ(entries->front().size, plain->front().size);
  EXPECT_EQ(entries->front().offset, plain->front().offset);
  std::string unpacked;
  EXPECT_TRUE(zipContent(archive, entries->front(), unpacked));
  archive[central + 46 + name] = 7;  // a field of another kind
  EXPECT_FALSE(zipDirectory(archive));
}

}  // namespace
