// The file by which a campaign hands a row to its worker: what is refused, and why.
#include "compiler/worker/RowFile.h"
#include "test/unit/TemporaryFolder.h"

#include <fstream>

namespace tbem::driver {
namespace {

class RowFileTest : public test::TemporaryFolder {
protected:
  /// What is said of the file, or "".
  static std::string whyNot(const RowFile& file) {
    const auto row = readRow(file);
    return row ? std::string() : row.error();
  }
  static void fill(const std::string& path, std::string_view text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }
  RowFile written(const std::vector<runtime::LibraryDesc>& libraries = {}) {
    runtime::ExecutableFile row;
    row.identity = "0123";
    row.backend = "ref";
    row.object = "ab99";
    row.libraries = libraries;
    const auto file = writeRow(folder + "/cache", row);
    EXPECT_TRUE(file) << file.error();
    return file.value_or(RowFile{});
  }
};

TEST_F(RowFileTest, LiesBesideItsNativeCodeAndIsReadBack) {
  const RowFile file = written();
  EXPECT_EQ(file.path, folder + "/cache/ab/ab99-0123.run");
  const auto row = readRow(file);
  ASSERT_TRUE(row) << row.error();
  EXPECT_EQ(row->object, "ab99");
}

TEST_F(RowFileTest, AnotherRowsFileIsRefused) {
  RowFile file = written();
  file.identity = "4567";
  EXPECT_NE(whyNot(file).find("ab99-0123.run is of row 0123, expected 4567: measure again"), std::string::npos) << whyNot(file);
}

TEST_F(RowFileTest, AFileThatIsGoneIsSaidToBe) {
  const RowFile file = written();
  std::filesystem::remove(file.path);
  EXPECT_NE(whyNot(file).find("ab99-0123.run is no longer there: measure again"), std::string::npos) << whyNot(file);
}

TEST_F(RowFileTest, AFileThatOthersCouldHaveWrittenIsNotBelieved) {
  const RowFile file = written();
  std::filesystem::permissions(file.path, std::filesystem::perms::others_write, std::filesystem::perm_options::add);
  EXPECT_NE(whyNot(file).find("others can write"), std::string::npos) << whyNot(file);
}

TEST_F(RowFileTest, ALibraryMustBeTheOneThatWasPlannedWith) {
  const std::string library = folder + "/libown.so";
  fill(library, "one");
  const RowFile file = written({{library, libraryHash(library)}});
  EXPECT_EQ(whyNot(file), "");
  fill(library, "two");
  EXPECT_NE(whyNot(file).find("the program's own library " + library + " changed while it was measured"), std::string::npos);
  std::filesystem::remove(library);
  EXPECT_NE(whyNot(file), "");
}

}  // namespace
}  // namespace tbem::driver
