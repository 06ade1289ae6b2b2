// Programs through JSON: every opcode and attribute comes back, and every way a file can be wrong is one
// InvalidArgument.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <trn/core/error.hpp>
#include <trn/tile/serialize.hpp>

#include "fields.hpp"
#include "programs.hpp"

namespace trn::tile {
namespace {

std::string message_of(const std::string& text) {
  try {
    (void)deserialize(text);
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "accepted";
}

// `text` with its first `from` replaced.
std::string edited(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

#define EXPECT_MESSAGE(text, part)                                          \
  do {                                                                      \
    const std::string message = message_of(text);                           \
    EXPECT_NE(message.find(part), std::string::npos) << "got: " << message; \
  } while (false)

struct FieldHashes {
  std::vector<std::pair<std::string, std::uint64_t>> fields = {};
  template <class T> void operator()(const char* field, const T& value) {
    fields.emplace_back(field, field_hash(value));
  }
};

TEST(Serialize, RoundTripOfEveryOpcode) {
  for (const Machine& m : machines()) {
    const Program p = test::every_opcode(m);
    const std::string text = serialize(p);
    const Program back = deserialize(text);
    EXPECT_EQ(back, p) << m.name;
    EXPECT_EQ(back.hash(), p.hash());
    EXPECT_EQ(serialize(back), text);
  }
}

// The program of the round trip gives every attribute of every instruction a value other than its default somewhere.
TEST(Serialize, TheSharedProgramUsesEveryAttribute) {
  std::set<std::string> missing;
  for (std::size_t o = 0; o < kOpcodes; ++o) {
    std::visit(
        [&]<class I>(const I& fresh) {
          FieldHashes usual;
          I::visit(fresh, usual);
          for (const auto& [field, hash] : usual.fields) missing.insert(std::string(name(I::opcode)) + "." + field);
        },
        default_attributes(static_cast<Opcode>(o)));
  }
  for (const Machine& m : machines()) {
    const Program program = test::every_opcode(m);
    for (const Instruction& i : program.instructions()) {
      i.visit([&]<class I>(const I& attributes) {
        const I fresh;
        FieldHashes usual, actual;
        I::visit(fresh, usual);
        I::visit(attributes, actual);
        for (std::size_t f = 0; f < actual.fields.size(); ++f) {
          if (actual.fields[f].second == usual.fields[f].second) continue;
          missing.erase(std::string(name(I::opcode)) + "." + actual.fields[f].first);
        }
      });
    }
  }
  EXPECT_EQ(missing, std::set<std::string>{});
}

TEST(Serialize, NumbersKeepTheirBits) {
  using Limits = std::numeric_limits<double>;
  for (const double value :
       {-0.0, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::denorm_min(), Limits::max(), 0.1,
        std::nextafter(1.0, 2.0), std::bit_cast<double>(std::uint64_t(0xfff8000000001234))}) {
    Builder b("number", machine("trn2"));
    b.memset(b.sbuf("t", 32, {8}, DType::Float32), value);
    const Program p = b.finish(), back = deserialize(serialize(p));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(back.instructions()[0].as<isa::Memset>()->value),
              std::bit_cast<std::uint64_t>(value));
    EXPECT_EQ(back.hash(), p.hash());
  }
}

TEST(Serialize, LargeIntegersAndOddNamesSurvive) {
  Program::Parts parts = test::scale_program(machine("trn2")).parts();
  parts.name = "quotes \" and \\ and \n and \u00fc";
  parts.instructions[0].operands[isa::DmaCopy::src].offset = std::numeric_limits<std::int64_t>::min();
  parts.instructions[0].operands[isa::DmaCopy::src].dims[0].stride = std::numeric_limits<std::int64_t>::max();
  const Program p(parts);
  EXPECT_EQ(deserialize(serialize(p)), p);
  parts.name = "\xff";
  EXPECT_THROW((void)serialize(Program(parts)), InvalidArgument) << "not UTF-8";
}

TEST(Serialize, RefusesWhatIsNotAProgram) {
  EXPECT_MESSAGE("", "deserialize: the text is empty");
  EXPECT_MESSAGE(" \n", "deserialize: the text is empty");
  EXPECT_MESSAGE("not json", "deserialize: not JSON, or cut short");
  EXPECT_MESSAGE("[1, 2]", "the file is not an object");
  EXPECT_MESSAGE("{}", "the file lacks the field 'format'");
  EXPECT_MESSAGE(R"({"format": "something else"})", "the format is 'something else'");
}

// What a file says may be of any length and depth; the answer is one short line.
TEST(Serialize, RefusesWhatWouldExhaustTheReader) {
  const std::string text = serialize(test::scale_program(machine("trn2")));
  for (const char* open : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 500'000; ++i) deep += open;
    EXPECT_MESSAGE(deep, "lists or objects nest more than 100 deep");
    EXPECT_MESSAGE(edited(text, "\"operand0_value\": 2.0", "\"operand0_value\": " + deep),
                   "lists or objects nest more than 100 deep");
  }
  Program::Parts parts = test::scale_program(machine("trn2")).parts();
  parts.name = "two\nlines";
  EXPECT_MESSAGE(edited(serialize(Program(parts)), "\"trip\": 8", "\"trip\": 0"), "program 'two?lines'");
  const std::string brackets = edited(text, "\"name\": \"scale\"",
                                      "\"name\": \"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"");
  EXPECT_MESSAGE(brackets, "the file was edited or damaged");  // brackets in text do not nest
  EXPECT_LT(message_of("{\"format\": \"" + std::string(1'000'000, 'x') + "\"}").size(), 500u);
  EXPECT_LT(message_of("{\"" + std::string(1'000'000, 'x')).size(), 500u);
  EXPECT_THROW((void)load("/dev/zero"), InvalidArgument);
}

TEST(Serialize, RefusesTruncatedFiles) {
  const std::string text = serialize(test::scale_program(machine("trn2")));
  for (std::size_t n = 1; n + 2 < text.size(); n += 7) {
    ASSERT_NE(message_of(text.substr(0, n)).find("not JSON, or cut short"), std::string::npos) << n;
  }
}

TEST(Serialize, RefusesEditedFiles) {
  const std::string text = serialize(test::scale_program(machine("trn2")));
  EXPECT_MESSAGE(edited(text, "\"operand0_value\": 2.0", "\"operand0_value\": 3.0"), "the file was edited or damaged");
  EXPECT_MESSAGE(edited(text, "\"name\": \"scale\"", "\"name\": \"stale\""), "the file was edited or damaged");
  EXPECT_MESSAGE(edited(text, "\"hash\": \"", "\"hash\": \"0"), "the file was edited or damaged");
  EXPECT_MESSAGE(edited(text, "\"version\": 5", "\"version\": 1"), "version 1; this build reads version 5");
  EXPECT_MESSAGE(edited(text, "\"kind\": \"input\"", "\"kind\": \"guess\""),
                 "the file.program.tensors[0].kind is \"guess\", a name this version does not know");
  EXPECT_MESSAGE(edited(text, "\"dtype\": \"float32\"", "\"dtype\": \"float31\""), "dtype is \"float31\"");
  EXPECT_MESSAGE(edited(text, "\"opcode\": \"dma_copy\"", "\"opcode\": 3"), "instructions[0].opcode is 3, a name");
  EXPECT_MESSAGE(edited(text, "\"opcode\": \"dma_copy\"", "\"opcode\": \"memset\""),
                 "instructions[0].attributes lacks the field 'value'");
  EXPECT_MESSAGE(edited(text, "\"buffers\": 2", "\"bufers\": 2"),
                 "the file.program.tiles[0] lacks the field 'buffers'");
  EXPECT_MESSAGE(edited(text, "\"buffers\": 2", "\"buffers\": 2, \"extra\": 1"), "tiles[0] has 7 fields instead of 6");
  EXPECT_MESSAGE(edited(text, "\"buffers\": 2", "\"buffers\": 2.5"), "buffers is 2.5 instead of an integer");
  EXPECT_MESSAGE(edited(text, "\"buffers\": 2", "\"buffers\": 18446744073709551615"), "outside its range");
  EXPECT_MESSAGE(edited(text, "\"ring\": -1", "\"ring\": 4294967296"), "outside its range");
  EXPECT_MESSAGE(edited(text, "\"operand0_value\": 2.0", "\"operand0_value\": \"two\""),
                 "operand0_value is \"two\" instead of a number");
  EXPECT_MESSAGE(edited(text, "\"operand0_value\": 2.0", "\"operand0_value\": \"bits:7ff\""), "instead of a number");
  EXPECT_MESSAGE(edited(text, "\"reverse0\": false", "\"reverse0\": 0"), "reverse0 is 0 instead of true or false");
  EXPECT_MESSAGE(edited(text, "\"name\": \"scale\"", "\"name\": 5"), "the file.program.name is 5 instead of text");
  EXPECT_MESSAGE(edited(text, "\"trip\": 8", "\"trip\": 0"), "the program is inconsistent");
  EXPECT_MESSAGE(edited(text, "\"id\": 0", "\"id\": 12"), "the program is inconsistent");
}

class SerializeFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }
  std::filesystem::path folder_;
};

TEST_F(SerializeFile, SaveAndLoad) {
  const Program p = test::every_opcode(machine("trn2"));
  save(p, path("p.json"));
  EXPECT_EQ(load(path("p.json")), p);
}

TEST_F(SerializeFile, TroubleNamesThePath) {
  const Program p = test::scale_program(machine("trn2"));
  EXPECT_THROW(save(p, path("no/such/folder/p.json")), InvalidArgument);
  EXPECT_THROW((void)load(path("missing.json")), InvalidArgument);
  EXPECT_THROW((void)load(folder_.string()), InvalidArgument) << "a folder";
  std::ofstream(path("empty.json")).close();
  try {
    (void)load(path("empty.json"));
    FAIL() << "an empty file was accepted";
  } catch (const InvalidArgument& e) {
    EXPECT_EQ(e.what(), "load: '" + path("empty.json") + "': the text is empty");
  }
}

}  // namespace
}  // namespace trn::tile
