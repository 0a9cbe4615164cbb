// The file by which a campaign hands a row to the process that measures it.
#include "runtime/core/ExecutableFile.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tbem::runtime {
namespace {

tbem_operand matrix(std::int64_t rows, std::int64_t columns) {
  tbem_operand operand{};
  operand.present = 1;
  operand.dtype = TBEM_F32;
  operand.rank = 2;
  operand.dims[0] = operand.layout.padded[0] = rows;
  operand.dims[1] = operand.layout.padded[1] = columns;
  operand.layout.strides[0] = columns;
  operand.layout.strides[1] = 1;
  operand.layout.bytes = static_cast<std::uint64_t>(rows * columns) * 4;
  return operand;
}

/// One of everything that a file can hold.
ExecutableFile full() {
  ExecutableFile file;
  file.identity = "0123456789abcdef0123456789abcdef";
  file.backend = "cpu";
  file.device = "a processor, avx2, a library";
  file.object = "fedcba9876543210fedcba9876543210";
  file.libraries = {{"/own/lib.so", "0011"}};
  file.seed = ~std::uint64_t{0};
  file.protocol = {.warmup = 1, .steps = 2, .minSeconds = 0.25, .maxSteps = 3};
  Executable& e = file.executable;
  e.arena = 1U << 20U;
  e.allocations = {{0, 64, true}, {64, 128, false}};
  tbem_operand blocked = matrix(16, 32);
  blocked.layout.blocks = 1;
  blocked.layout.block_dim[0] = 1;
  blocked.layout.block_size[0] = 16;
  e.buffers = {{"weight", matrix(3, 5), 0, 0}, {"", blocked, 64, 1}};
  e.storages = {{"dense.weight", BufferClass::Weight, 0, {"uniform", -0.5, 0.5}, 0}, {"label", BufferClass::Input, 1, {}, 10}};
  CallDesc call;
  call.primitive = TBEM_PRIMITIVE_COUNT;
  call.library = "/own/lib.so";
  call.symbol = "f";
  call.name = "own";
  call.inputs = 1;
  call.outputs = 1;
  call.operands = {matrix(3, 5), tbem_operand{}};
  call.offsets = {0, kAbsent};
  call.attributes = {-1, 0, std::int64_t{1} << 62};
  call.scalars = {0};
  call.workspace = 64;
  call.workspaceBytes = 128;
  call.implementation = "gemm:jit";
  call.perSample = {true, false};
  call.sizes = {1, 8};
  call.algorithm = 2;
  call.moves = {60, 0};
  call.parts = {0, 64};
  call.workspacePart = 32;
  call.partSizes = {1, 4};
  call.room = {60, 128};
  e.calls = {call};
  e.branches = {{}, {0, "unit[3].skip", false, true, 8, 1, 0, 1}};
  e.samples = 8;
  e.microBatches = 2;
  e.microBatchAt = 512;
  e.scalars = {0, 0.1, -0.0};
  e.scalarNames = {"step", "optimizer.lr"};
  e.loss = 1;
  e.outputs = {0};
  e.threads = 4;
  return file;
}

std::string whyNot(std::string_view text) {
  const auto read = readExecutable(text, "DIR/row.run");
  return read ? std::string() : read.error();
}

/// The body of a file that holds a changed executable.
std::string changed(void (*change)(Executable& executable)) {
  ExecutableFile file = full();
  change(file.executable);
  return whyNot(executableText(file));
}

TEST(ExecutableFile, WhatIsReadIsWhatWasWritten) {
  const ExecutableFile file = full();
  const std::string text = executableText(file);
  const auto read = readExecutable(text, "row.run");
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(executableText(*read), text);
  EXPECT_EQ(read->identity, file.identity);
  EXPECT_EQ(read->device, file.device);
  EXPECT_EQ(read->libraries.at(0).path, "/own/lib.so");
  EXPECT_EQ(read->libraries.at(0).hash, "0011");
  EXPECT_EQ(read->seed, file.seed);
  EXPECT_EQ(read->protocol.minSeconds, 0.25);
  EXPECT_EQ(read->executable.step, nullptr);
  EXPECT_EQ(read->executable.buffers[1].operand.layout.block_size[0], 16);
  EXPECT_EQ(read->executable.storages[0].init.a, -0.5);
  EXPECT_EQ(read->executable.storages[1].kind, BufferClass::Input);
  const CallDesc& call = read->executable.calls[0];
  EXPECT_EQ(call.attributes, file.executable.calls[0].attributes);
  EXPECT_EQ(call.offsets[1], kAbsent);
  EXPECT_EQ(call.perSample, (std::vector<bool>{true, false}));
  EXPECT_EQ(call.partSizes, (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(call.operands[0].layout.strides[0], 5);
  EXPECT_EQ(call.operands[1].present, 0);
  EXPECT_EQ(read->executable.branches[1].gate, "unit[3].skip");
  EXPECT_TRUE(std::signbit(read->executable.scalars[2]));
  EXPECT_EQ(read->executable.threads, 4);
}

TEST(ExecutableFile, AFileThatIsCutOffAnywhereIsRefused) {
  const std::string text = executableText(full());
  for (std::size_t size = 0; size < text.size(); ++size) {
    const std::string why = whyNot(std::string_view(text).substr(0, size));
    ASSERT_TRUE(why.starts_with("DIR/row.run at byte ")) << size << ": " << why;
    ASSERT_NE(why.find("expected"), std::string::npos) << why;
    ASSERT_TRUE(why.ends_with("; remove it and measure again")) << why;
  }
  EXPECT_NE(whyNot(text + "x"), "");
}

TEST(ExecutableFile, AByteThatIsChangedAnywhereIsRefused) {
  const std::string text = executableText(full());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    ASSERT_NE(whyNot(damaged), "") << i;
  }
}

TEST(ExecutableFile, ForeignFilesAreToldApart) {
  EXPECT_NE(whyNot("tbem-obj-1\nabc").find("at byte 0: this is no executable of this version, expected `tbem-executable-3`"),
            std::string::npos);
}

TEST(ExecutableFile, ALengthIsCheckedBeforeMemoryIsTaken) {
  const std::string longer(9, '\xff');
  EXPECT_NE(whyNot(sealExecutable(longer + "\x01")).find("expected at most the 0 bytes that are left"), std::string::npos);
  EXPECT_NE(whyNot(sealExecutable(std::string("\xff\xff\x03", 3) + "abc")).find("a length of 65535"), std::string::npos);
  EXPECT_NE(whyNot(sealExecutable(std::string(20, '\xff'))).find("no number ends"), std::string::npos);
}

TEST(ExecutableFile, BytesBehindTheEndAreRefused) {
  const std::string text = executableText(full());
  const std::string body = text.substr(text.find('\n') + 1 + 32);
  EXPECT_EQ(whyNot(sealExecutable(body)), "");
  EXPECT_NE(whyNot(sealExecutable(body + "ab")).find("2 bytes more, expected the end"), std::string::npos);
}

TEST(ExecutableFile, NumbersOutsideWhatTheyMeanAreRefused) {
  EXPECT_NE(changed([](Executable& e) { e.buffers[0].operand.dtype = 99; }).find("99, expected a number from 0 to 10"),
            std::string::npos);
  EXPECT_NE(changed([](Executable& e) { e.buffers[1].operand.layout.block_dim[0] = -1; }).find("-1, expected"),
            std::string::npos);
  EXPECT_NE(changed([](Executable& e) { e.storages[0].kind = BufferClass{9}; }).find("9, expected"), std::string::npos);
  EXPECT_NE(changed([](Executable& e) { e.calls[0].primitive = TBEM_PRIMITIVE_COUNT + 1; }).find("expected"), std::string::npos);
  EXPECT_NE(changed([](Executable& e) { e.calls[0].inputs = -1; }).find("-1, expected"), std::string::npos);
  EXPECT_NE(changed([](Executable& e) { e.threads = 0; }).find("0, expected"), std::string::npos);
}

TEST(ExecutableFile, NumbersThatNameNothingAreRefused) {
  EXPECT_NE(changed([](Executable& e) { e.buffers[0].allocation = 2; }).find("allocation 2, expected one of 2"),
            std::string::npos);
  EXPECT_NE(changed([](Executable& e) { e.storages[0].buffer = 2; }).find("storage dense.weight names buffer 2"),
            std::string::npos);
  EXPECT_NE(changed([](Executable& e) { e.calls[0].symbol.clear(); }).find("call own names primitive"), std::string::npos);
  EXPECT_NE(changed([](Executable& e) { e.branches[1].parent = 1; }).find("branch unit[3].skip names parent 1"),
            std::string::npos);
  EXPECT_NE(changed([](Executable& e) { e.outputs = {7}; }).find("an output names buffer 7"), std::string::npos);
  EXPECT_NE(changed([](Executable& e) { e.loss = 2; }).find("the loss names buffer 2"), std::string::npos);
}

}  // namespace
}  // namespace tbem::runtime
