// The manual page: what stands in it for texts that troff would obey, and which options a command's part has.
#include "compiler/options/ManPage.h"

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace tbem::driver {
namespace {

struct Program {
  CLI::App app;
  std::vector<std::string> files;
  std::string kind, size;
  bool quick = false, secret = false;

  Program() {
    app.set_help_flag("-h,--help", "this help");
    app.add_option("FILE", files, "a program")->required();
    app.add_option("--kind", kind, "which it is")->check(CLI::IsMember({"f32", "f64"}));
    app.add_option("-s,--size", size, ".5 of \\fB `it's` ~ \"a\"^b \u2013 \U0001F600")->type_name("SIZE");
    app.add_flag("--quick", quick, "less")->excludes("--kind");
    app.add_flag("--secret", secret, "not shown")->group("");
  }
};

TEST(ManPage, HasWhatTheHelpShows) {
  const Program program;
  const ManCommand command = manCommand("go", "goes", program.app, false);
  EXPECT_EQ(command.synopsis, "[OPTIONS] FILE...");
  EXPECT_EQ(manCommand("go", "goes", program.app, true).synopsis, "[OPTIONS] FILE");
  ASSERT_EQ(command.places.size(), 1U);
  EXPECT_EQ(command.places[0].help, "a program (required)");
  ASSERT_EQ(command.options.size(), 4U);  // --help too, and not --secret
  EXPECT_EQ(command.options[1].value, "f32|f64");
  EXPECT_EQ(command.options[2].names, (std::vector<std::string>{"-s", "--size"}));
  EXPECT_EQ(command.options[3].value, "");
  EXPECT_EQ(command.options[3].help, "less (not with --kind)");
}

// The escapes are those of groff_char(7).
TEST(ManPage, TextIsObeyedNowhere) {
  const Program program;
  const std::string page =
      manPage({.version = "tbemc 1", .commands = {manCommand("go", "goes", program.app, false)}, .later = {}});
  EXPECT_NE(page.find("\n\\fB\\-s\\fR, \\fB\\-\\-size\\fR \\fISIZE\\fR\n"
                      "\\&.5 of \\efB \\(gait\\(aqs\\(ga \\(ti \\(dqa\\(dq\\(hab \\[u2013] \\[u1F600]\n"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("\n.SS tbemc go\ngoes.\n"), std::string::npos) << page;
  EXPECT_EQ(page.find("secret"), std::string::npos);
  EXPECT_TRUE(std::ranges::all_of(page, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}

}  // namespace
}  // namespace tbem::driver
