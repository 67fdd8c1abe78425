#include "crashes/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <numeric>

#include "crashes/durable_file.h"
#include "crashes/pattern.h"
#include "crashes/signature_store.h"
#include "crashes/symptom.h"

namespace warpfuzz {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Case softmax_case() {
  auto schema = std::make_shared<Schema>();
  schema->name = "softmax";
  schema->dtype_variables = {"T", "U"};
  schema->dtype_combinations = {{{DType::float32, DType::bfloat16}, Tier::everyday}};
  schema->axes.resize(2);
  TensorSpec output;
  output.name = "y";
  output.axes = {0, 1};
  output.dtype_variable = 1;
  schema->outputs = {output};
  Case c;
  c.schema = schema;
  c.axes = {3, 4};
  c.outputs = {{}};
  return c;
}

TEST(Signature, IsGateOpDtypesAndSymptom) {
  const Case c = softmax_case();
  EXPECT_EQ(Signature(c, "CMP-03", Symptom::value).text(), "CMP-03-softmax-float32-bfloat16-value");
  EXPECT_EQ(Signature(c, "MEM-02", Symptom::none).text(), "MEM-02-softmax-float32-bfloat16");
}

TEST(Signature, IsSafeAsAFileName) {
  Case c = softmax_case();
  auto schema = std::make_shared<Schema>(*c.schema);
  schema->name = "../a b\n" + std::string(200, 'x');
  c.schema = schema;
  const std::string text = Signature(c, "CMP-01", Symptom::value).text();
  EXPECT_EQ(text.substr(0, 16), "CMP-01-___a_b_xx");
  EXPECT_EQ(text.size(), 128u);
  EXPECT_EQ(Signature::parse(text)->text(), text);
}

TEST(Signature, ParsesOnlySignatures) {
  EXPECT_TRUE(Signature::parse("CMP-01-softmax-float32-value"));
  for (const char* text : {"", ".", "..", "a/b", "a.b", "a b", "a\n"}) {
    EXPECT_FALSE(Signature::parse(text)) << text;
  }
  EXPECT_FALSE(Signature::parse(std::string(129, 'a')));
}

constexpr Offence offence(OffenceKind kind, double observed, uint8_t allowed) {
  return {.kind = kind, .observed = observed, .allowed = allowed};
}

TEST(Symptom, IsCoarse) {
  const Offence wrong = offence(OffenceKind::value, 1, class_finite);
  const Offence subnormal = offence(OffenceKind::subnormal, 0, class_finite);
  const Offence lost = offence(OffenceKind::non_finite, 1, class_nan);
  const Offence swapped = offence(OffenceKind::non_finite, infinity, class_nan);
  const Offence nan_made = offence(OffenceKind::non_finite, std::nan(""), class_finite);
  const Offence infinity_made = offence(OffenceKind::non_finite, infinity, class_finite);
  const struct {
    std::vector<Offence> offences;
    std::vector<FaultKind> faults;
    Symptom symptom;
  } rows[] = {
      {{}, {}, Symptom::none},
      {{wrong, subnormal}, {}, Symptom::value},
      {{wrong, nan_made}, {}, Symptom::non_finite_made},
      {{infinity_made}, {}, Symptom::non_finite_made},
      {{nan_made, lost}, {}, Symptom::non_finite_lost},
      {{swapped}, {}, Symptom::non_finite_lost},
      {{}, {FaultKind::out_of_bounds_read}, Symptom::bounds},
      {{}, {FaultKind::wild_access}, Symptom::bounds},
      {{}, {FaultKind::out_of_bounds_write, FaultKind::wild_access}, Symptom::none},
      {{}, {FaultKind::exit_before_barrier}, Symptom::barrier},
      {{}, {FaultKind::time_limit}, Symptom::hang},
      {{}, {FaultKind::illegal_launch}, Symptom::error},
  };
  for (const auto& row : rows) {
    GateResult result;
    result.offences = row.offences;
    for (FaultKind kind : row.faults) result.faults.emplace_back().kind = kind;
    EXPECT_EQ(symptom_of("CMP-01", result), row.symptom) << name(row.symptom);
  }
  EXPECT_EQ(symptom_of("RUN-01", {}), Symptom::error) << "a launch that failed leaves no fault";
}

std::vector<size_t> where(std::vector<int64_t> shape,
                          const std::function<bool(size_t, size_t)>& f) {
  std::vector<size_t> elements;
  const size_t columns = static_cast<size_t>(shape.back());
  shape.pop_back();
  const auto rows = static_cast<size_t>(
      std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()));
  for (size_t i = 0; i < rows * columns; ++i) {
    if (f(i / columns, i % columns)) elements.push_back(i);
  }
  return elements;
}

TEST(Pattern, IsASentence) {
  const struct {
    std::vector<int64_t> shape;
    std::function<bool(size_t row, size_t column)> offends;
    PatternClass pattern;
    std::string sentence;
  } rows[] = {
      {{3, 4}, [](auto, auto) { return false; }, PatternClass::none, "no element"},
      {{3, 4}, [](auto, auto) { return true; }, PatternClass::everything, "all 12 elements"},
      {{1, 1}, [](auto, auto) { return true; }, PatternClass::everything, "the only element"},
      {{2, 3, 20},
       [](auto r, auto c) { return r == 5 && c == 17; },
       PatternClass::one_element,
       "one element [1, 2, 17] of 120"},
      {{6, 4}, [](auto r, auto) { return r == 3; }, PatternClass::rows, "row 3"},
      {{6, 4}, [](auto r, auto) { return r >= 4; }, PatternClass::rows, "rows >= 4"},
      {{6, 4}, [](auto r, auto) { return r < 2; }, PatternClass::rows, "rows < 2"},
      {{6, 4}, [](auto r, auto) { return r % 2 == 1; }, PatternClass::rows, "rows % 2 == 1"},
      {{2, 3, 4}, [](auto r, auto) { return r == 1 || r == 2; }, PatternClass::rows, "rows 1 to 2"},
      {{6, 4},
       [](auto r, auto) { return r == 0 || r == 4; },
       PatternClass::rows,
       "2 of 6 rows, the first 0"},
      {{3, 1030},
       [](auto, auto c) { return c >= 1024; },
       PatternClass::columns,
       "columns >= 1024 of every row"},
      {{3, 1030},
       [](auto r, auto c) { return r == 1 && c >= 1024; },
       PatternClass::columns,
       "columns >= 1024 of row 1"},
      {{3, 8}, [](auto, auto c) { return c == 5; }, PatternClass::columns, "column 5 of every row"},
      {{3, 64},
       [](auto, auto c) { return c % 32 == 31; },
       PatternClass::columns,
       "2 of 64 columns, the first 31 of every row"},
      {{3, 96},
       [](auto, auto c) { return c % 32 == 31; },
       PatternClass::columns,
       "columns % 32 == 31 of every row"},
      {{100}, [](auto, auto c) { return c >= 96; }, PatternClass::columns, "elements >= 96"},
      {{20, 20},
       [](auto r, auto c) { return r >= 16 && c >= 16; },
       PatternClass::last_tile,
       "columns >= 16 of rows >= 16"},
      {{20, 20},
       [](auto r, auto c) { return r >= 16 || c >= 16; },
       PatternClass::border,
       "columns >= 16 of every row and rows >= 16"},
      {{5, 7},
       [](auto r, auto c) { return r * 7 + c >= 25; },
       PatternClass::suffix,
       "elements >= 25 of 35 in row-major order"},
      {{5, 7},
       [](auto r, auto c) { return (r * 7 + c) % 4 == 1; },
       PatternClass::periodic,
       "elements % 4 == 1 in row-major order"},
      {{5, 7},
       [](auto r, auto c) { return r * r == c; },
       PatternClass::scattered,
       "3 of 35 elements, the first [0, 0], the last [2, 4]"},
      {{4, 4},
       [](auto r, auto c) { return c > r; },
       PatternClass::scattered,
       "6 of 16 elements, the first [0, 1], the last [2, 3]"},
  };
  for (const auto& row : rows) {
    const Pattern pattern = classify(row.shape, where(row.shape, row.offends));
    EXPECT_EQ(pattern.sentence, row.sentence);
    EXPECT_EQ(name(pattern.pattern), name(row.pattern)) << row.sentence;
  }
  EXPECT_EQ(classify({}, std::vector<size_t>{0}).sentence, "the only element");
  EXPECT_EQ(classify(std::vector<int64_t>{0, 4}, {}).sentence, "no element");
}

std::filesystem::path fresh_directory(const std::string& name) {
  const auto path = std::filesystem::path(::testing::TempDir()) / ("warpfuzz_" + name);
  std::filesystem::remove_all(path);
  return path;
}

Reproducer reproducer_of(const std::string& op) {
  Reproducer reproducer;
  reproducer.op = op;
  return reproducer;
}

TEST(SignatureStore, StoresTheFirstOnly) {
  SignatureStore store(fresh_directory("store") / "findings");
  const Signature signature = *Signature::parse("CMP-01-softmax-float32-value");
  EXPECT_FALSE(store.knows(signature));
  EXPECT_TRUE(store.claim(signature, reproducer_of("first")));
  EXPECT_FALSE(store.claim(signature, reproducer_of("second")));
  EXPECT_TRUE(store.knows(signature));
  EXPECT_EQ(read_reproducer(store.path(signature)).op, "first");
  store.replace(signature, reproducer_of("smaller"));
  EXPECT_EQ(read_reproducer(store.path(signature)).op, "smaller");
}

TEST(SignatureStore, SeesWhatOthersFound) {
  const auto directory = fresh_directory("shared");
  SignatureStore ours(directory);
  SignatureStore theirs(directory);
  const Signature signature = *Signature::parse("CMP-01-softmax-float32-value");
  EXPECT_TRUE(theirs.claim(signature, reproducer_of("theirs")));
  EXPECT_TRUE(ours.knows(signature));
}

TEST(SignatureStore, ListsFindingsAndIgnoresTheRest) {
  const auto directory = fresh_directory("list");
  SignatureStore store(directory);
  for (const char* text : {"b", "a"}) store.claim(*Signature::parse(text), reproducer_of("x"));
  // A worker that was killed while it wrote, and a file of the user.
  replace_file(directory / ".c.wfr.1234-0", {});
  replace_file(directory / "notes.txt", {});
  EXPECT_THAT(store.list(), ::testing::ElementsAre(*Signature::parse("a"), *Signature::parse("b")));
}

TEST(SignatureStore, SaysWhyItCannotBeCreated) {
  const auto directory = fresh_directory("uncreatable");
  std::filesystem::create_directories(directory);
  replace_file(directory / "file", {});
  const auto path = directory / "file" / "findings";
  try {
    SignatureStore store(path);
    FAIL() << "created";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.what(), path.string() + ": cannot create: Not a directory");
  }
}

TEST(SignatureStore, GivesEachClaimToOneOfManyProcesses) {
  constexpr int processes = 8;
  constexpr int claims = 25;
  const auto directory = fresh_directory("race");
  std::filesystem::create_directories(directory);
  int start[2];
  ASSERT_EQ(::pipe(start), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(start[1]);
      char byte;
      if (::read(start[0], &byte, 1) != 0) ::_exit(255);  // returns 0 when all may run
      SignatureStore store(directory / "findings");
      int won = 0;
      for (int claim = 0; claim < claims; ++claim) {
        const Signature signature = *Signature::parse("finding-" + std::to_string(claim));
        won += store.claim(signature, reproducer_of(std::to_string(i))) ? 1 : 0;
      }
      ::_exit(won);
    }
    children.push_back(child);
  }
  ::close(start[0]);
  ::close(start[1]);
  int won = 0;
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    won += WEXITSTATUS(status);
  }
  EXPECT_EQ(won, claims);
  SignatureStore store(directory / "findings");
  EXPECT_EQ(store.list().size(), size_t{claims});
  for (const Signature& signature : store.list()) {
    EXPECT_NO_THROW(read_reproducer(store.path(signature)));
  }
}

}  // namespace
}  // namespace warpfuzz
