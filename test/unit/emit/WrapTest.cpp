// Lines are broken as Black breaks them: the expected texts were made by Black 26.10.1.
#include "compiler/emit/python/Wrap.h"

#include <gtest/gtest.h>

namespace tbem::emit {
namespace {

struct Line {
  std::size_t indent;
  const char* text;
  const char* broken;
};

class Wrapping : public testing::TestWithParam<Line> {};

TEST_P(Wrapping, IsBlacks) { EXPECT_EQ(wrapped(GetParam().indent, GetParam().text), GetParam().broken); }

INSTANTIATE_TEST_SUITE_P(
    Lines, Wrapping,
    testing::Values(
        Line{8, "x = self.conv2d(x)", "        x = self.conv2d(x)\n"},
        Line{4, "return first_value, second_value, third_value, fourth_value, fifth_value, sixth_value_, x",
             R"(    return (
        first_value,
        second_value,
        third_value,
        fourth_value,
        fifth_value,
        sixth_value_,
        x,
    )
)"},
        Line{8,
             "first_value, second_value, third_value, fourth_value, fifth_value, sixth_value, x = self.subnetwork[1](y2, y3, "
             "a_long_argument_number_one, a_long_argument_number_two, a_third_one)",
             R"(        (
            first_value,
            second_value,
            third_value,
            fourth_value,
            fifth_value,
            sixth_value,
            x,
        ) = self.subnetwork[1](
            y2, y3, a_long_argument_number_one, a_long_argument_number_two, a_third_one
        )
)"},
        Line{4,
             "def forward(self, x: Tensor, inside: Tensor, result: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, "
             "Tensor]:",
             R"(    def forward(
        self, x: Tensor, inside: Tensor, result: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
)"},
        Line{4,
             "def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, "
             "Tensor]:",
             R"(    def forward(
        self, x: Tensor
    ) -> tuple[
        Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor
    ]:
)"},
        Line{4,
             "def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, "
             "Tensor, Tensor]:",
             R"(    def forward(self, x: Tensor) -> tuple[
        Tensor,
        Tensor,
        Tensor,
        Tensor,
        Tensor,
        Tensor,
        Tensor,
        Tensor,
        Tensor,
        Tensor,
        Tensor,
    ]:
)"},
        Line{8,
             "self.stage = nn.ModuleList([Stage(64, 64, stride=1, shortcut=nn.Identity(), count=2), "
             "Stage(64, 128, stride=2, count=1)])",
             R"(        self.stage = nn.ModuleList(
            [
                Stage(64, 64, stride=1, shortcut=nn.Identity(), count=2),
                Stage(64, 128, stride=2, count=1),
            ]
        )
)"},
        Line{8,
             "self.units = nn.ModuleList(Unit(in_channels, out_channels, stride=stride, shortcut=shortcut) for _ in "
             "range(count))",
             R"(        self.units = nn.ModuleList(
            Unit(in_channels, out_channels, stride=stride, shortcut=shortcut)
            for _ in range(count)
        )
)"},
        Line{8, "self.conv2d = nn.Conv2d(in_channels, out_channels, kernel_size=(3, 5), stride=stride, padding=1, bias=False)",
             R"(        self.conv2d = nn.Conv2d(
            in_channels,
            out_channels,
            kernel_size=(3, 5),
            stride=stride,
            padding=1,
            bias=False,
        )
)"},
        Line{8, "x = torch.cat([x, self.dense_unit_number_one(x), self.dense_unit_number_two(x), self.third(x)], dim=1)",
             R"(        x = torch.cat(
            [
                x,
                self.dense_unit_number_one(x),
                self.dense_unit_number_two(x),
                self.third(x),
            ],
            dim=1,
        )
)"},
        Line{8, "return F.relu(self.batch_norm(self.conv2d_with_a_very_long_name(x)) + self.shortcut_of_the_residual(y))",
             R"(        return F.relu(
            self.batch_norm(self.conv2d_with_a_very_long_name(x))
            + self.shortcut_of_the_residual(y)
        )
)"},
        Line{4,
             "def __init__(self, in_channels: int, out: int, stride: int, shortcut: nn.Module, count: int) -> tuple[int, int]:",
             R"(    def __init__(
        self, in_channels: int, out: int, stride: int, shortcut: nn.Module, count: int
    ) -> tuple[int, int]:
)"},
        Line{8, "index = self.outside(index).reshape(-1, 3, 2, 5, 5, 16).permute(0, 1, 3, 2, 4, 5)",
             R"(        index = (
            self.outside(index).reshape(-1, 3, 2, 5, 5, 16).permute(0, 1, 3, 2, 4, 5)
        )
)"},
        Line{8, "index = self.outside_of_all(index).reshape(-1, 3, 2, 5, 5, 16).permute(0, 1, 3, 2, 4, 5).reshape(-1, 30, 80)",
             R"(        index = (
            self.outside_of_all(index)
            .reshape(-1, 3, 2, 5, 5, 16)
            .permute(0, 1, 3, 2, 4, 5)
            .reshape(-1, 30, 80)
        )
)"},
        Line{8,
             "y = (3.0 * torch.where(torch.arange(10)[:, None] < 5.0, 0.0, 1.0) + torch.where(torch.arange(5) < 0.0, 0.0, "
             "2.0)).to(torch.get_default_dtype())",
             R"(        y = (
            3.0 * torch.where(torch.arange(10)[:, None] < 5.0, 0.0, 1.0)
            + torch.where(torch.arange(5) < 0.0, 0.0, 2.0)
        ).to(torch.get_default_dtype())
)"},
        Line{8, "name = \"a comma, a bracket ( and a quote \\\" in a string are no places to break a line at, ever at all\"",
             "        name = \"a comma, a bracket ( and a quote \\\" in a string are no places to break a line at, ever at "
             "all\"\n"}));

}  // namespace
}  // namespace tbem::emit
