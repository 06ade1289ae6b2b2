// What surrounds the planners of FFTW's interface: what cannot be planned, wisdom, threads, memory, the Fortran names.
// Compiled once for each precision.
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "fftw_case.hpp"

namespace fftw_test {
namespace {

TEST(Fftw, WhatCannotBePlannedIsNull) {
  C x[8];
  R y[16];
  EXPECT_EQ(X(plan_dft_1d)(0, x, x, FORWARD, ESTIMATE), nullptr);
  EXPECT_EQ(X(plan_dft_1d)(-4, x, x, FORWARD, ESTIMATE), nullptr);
  EXPECT_EQ(X(plan_r2r_1d)(1, y, y, REDFT00, ESTIMATE), nullptr);
  EXPECT_EQ(X(plan_r2r_1d)(4, y, y, 11, ESTIMATE), nullptr);
  const int n = 4;
  EXPECT_EQ(X(plan_many_dft)(1, &n, -1, x, nullptr, 1, 4, x, nullptr, 1, 4, FORWARD, ESTIMATE), nullptr);
  X(plan) nothing = X(plan_many_dft)(1, &n, 0, x, nullptr, 1, 4, x, nullptr, 1, 4, FORWARD, ESTIMATE);
  ASSERT_NE(nothing, nullptr);
  X(execute)(nothing);
  X(destroy_plan)(nothing);
  X(destroy_plan)(nullptr);
  // Two transforms into the same places, however they would be run.
  const int wave = REDFT10;
  C z[8];
  R w[16];
  for (C* to : {x, z})
    EXPECT_EQ(X(plan_many_dft)(1, &n, 2, x, nullptr, 1, 4, to, nullptr, 1, 2, FORWARD, ESTIMATE), nullptr);
  for (R* to : {y, w})
    EXPECT_EQ(X(plan_many_r2r)(1, &n, 2, y, nullptr, 1, 4, to, nullptr, 2, 2, &wave, ESTIMATE), nullptr);
  EXPECT_EQ(X(plan_many_dft)(0, nullptr, 2, x, nullptr, 1, 4, z, nullptr, 1, 0, FORWARD, ESTIMATE), nullptr);
}

TEST(Fftw, WisdomIsTheListOfProblems) {
  C x[12], y[12];
  X(cleanup)();
  EXPECT_EQ(X(plan_dft_1d)(12, x, y, FORWARD, WISDOM_ONLY | ESTIMATE), nullptr);
  X(destroy_plan)(X(plan_dft_1d)(12, x, y, FORWARD, MEASURE));
  char* text = X(export_wisdom_to_string)();
  ASSERT_NE(text, nullptr);
  std::string written;
  X(export_wisdom)([](char c, void* s) { static_cast<std::string*>(s)->push_back(c); }, &written);
  EXPECT_EQ(written, text);
  const std::string path =
      testing::TempDir() + "trn_wisdom_" + std::to_string(sizeof(R)) + "_" + std::to_string(getpid());
  EXPECT_EQ(X(export_wisdom_to_filename)(path.c_str()), 1);
  EXPECT_EQ(X(export_wisdom_to_filename)("/nowhere/at/all"), 0);
  const auto knows = [&] {
    X(plan) p = X(plan_dft_1d)(12, x, y, FORWARD, WISDOM_ONLY);
    X(destroy_plan)(p);
    return p != nullptr;
  };
  EXPECT_TRUE(knows());
  const auto forgets_then = [&](auto import) {
    X(forget_wisdom)();
    EXPECT_FALSE(knows());
    EXPECT_EQ(import(), 1);
    EXPECT_TRUE(knows());
  };
  forgets_then([&] { return X(import_wisdom_from_string)(text); });
  EXPECT_EQ(X(import_wisdom_from_string)(nullptr), 0);
  forgets_then([&] { return X(import_wisdom_from_filename)(path.c_str()); });
  forgets_then([&] {
    const char* at = text;
    return X(import_wisdom)(
        [](void* p) {
          const char*& c = *static_cast<const char**>(p);
          return *c ? *c++ : EOF;
        },
        &at);
  });
  forgets_then([&] {
    std::FILE* file = std::fopen(path.c_str(), "r+");
    const int taken = X(import_wisdom_from_file)(file);
    std::fclose(file);
    return taken;
  });
  std::FILE* file = std::fopen(path.c_str(), "w");
  X(export_wisdom_to_file)(file);
  std::fclose(file);
  forgets_then([&] { return X(import_wisdom_from_filename)(path.c_str()); });
  std::remove(path.c_str());
  const std::string whole = text;
  for (const std::string& foreign :
       {std::string("(fftw-3.3.10 fftw_wisdom #x0 )"), std::string(), whole.substr(0, whole.size() - 4)})
    EXPECT_EQ(X(import_wisdom_from_string)(foreign.c_str()), 0) << foreign;
  EXPECT_EQ(X(import_wisdom_from_filename)("/nowhere/at/all"), 0);
  EXPECT_EQ(X(import_system_wisdom)(), 0);
  std::free(text);
}

TEST(Fftw, ThreadsMemoryAndTheRest) {
  EXPECT_NE(X(init_threads)(), 0);
  X(make_planner_thread_safe)();
  X(threads_set_callback)(nullptr, nullptr);
  EXPECT_EQ(X(planner_nthreads)(), 1);
  X(plan_with_nthreads)(2);
  EXPECT_EQ(X(planner_nthreads)(), 2);
  X(set_timelimit)(0.5);
  check(
      "two threads", {Form::C2C, {{64, 64, 64}, {64, 1, 1}}},
      [&](Case& c) { return X(plan_dft_2d)(64, 64, c.ci(), c.co(), FORWARD, ESTIMATE); }, kAgain);
  X(cleanup_threads)();
  EXPECT_EQ(X(planner_nthreads)(), 1);

  R* reals = X(alloc_real)(100);
  C* pairs = X(alloc_complex)(100);
  void* bytes = X(malloc)(100);
  for (void* p : {static_cast<void*>(reals), static_cast<void*>(pairs), bytes})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 64, 0U);
  EXPECT_EQ(X(alignment_of)(reals), X(alignment_of)(reals + 1));
  X(plan) p = X(plan_dft_1d)(100, pairs, pairs, FORWARD, ESTIMATE);
  double add = 0, mul = 0, fma = -1;
  X(flops)(p, &add, &mul, &fma);
  EXPECT_GT(add + mul + 2 * fma, 100);
  EXPECT_GT(X(cost)(p), 0);
  EXPECT_GT(X(estimate_cost)(p), 0);
  char* printed = X(sprint_plan)(p);
  EXPECT_NE(std::strstr(printed, "n100:1:1"), nullptr);
  std::FILE* file = std::tmpfile();
  X(fprint_plan)(p, file);
  EXPECT_EQ(std::ftell(file), static_cast<long>(std::strlen(printed)));
  std::fclose(file);
  X(print_plan)(p);
  std::puts("");
  std::free(printed);
  X(destroy_plan)(p);
  X(free)(reals), X(free)(pairs), X(free)(bytes), X(free)(nullptr);
  // Sizes whose bytes are no number.
  EXPECT_EQ(X(alloc_real)(SIZE_MAX / sizeof(R) + 2), nullptr);
  EXPECT_EQ(X(alloc_complex)(SIZE_MAX / sizeof(C) + 2), nullptr);
  EXPECT_EQ(std::strncmp(X(version), "fftw-3.3", 8), 0);
  EXPECT_GT(std::strlen(X(cc)), 0U);
  EXPECT_EQ(std::strlen(X(codelet_optim)), 0U);
}

// One plan, several threads, arrays of their own; and planning beside it.
TEST(Fftw, ExecutesInThreads) {
  Case first{Form::C2C, {{60, 1, 1}}, {{4, 60, 60}}};
  first.fill();
  const int n = 60;
  X(plan) plan = X(plan_many_dft)(1, &n, 4, first.ci(), nullptr, 1, 60, first.co(), nullptr, 1, 60, FORWARD, ESTIMATE);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        Case c = first;
        X(execute_dft)(plan, c.ci(), c.co());
        c.compare("in a thread");
        X(destroy_plan)(X(plan_dft_1d)(8 + i, c.ci(), c.co(), FORWARD, ESTIMATE));
      }
    });
  for (std::thread& t : threads) t.join();
  X(destroy_plan)(plan);
}

// A rank of minus infinity is a problem without elements: FFTW plans it, and nothing is touched.
TEST(Fftw, RankOfMinusInfinity) {
  const X(iodim) one{4, 1, 1};
  C data[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  for (const bool batch : {false, true}) {
    const X(plan) p =
        X(plan_guru_dft)(batch ? 1 : INT_MAX, &one, batch ? INT_MAX : 0, nullptr, data, data, FORWARD, 64);
    ASSERT_NE(p, nullptr);
    X(execute)(p);
    X(destroy_plan)(p);
  }
  EXPECT_EQ(data[0][0], R(1));
  EXPECT_EQ(data[3][1], R(8));
}

// The legacy Fortran names: extents backwards, everything by address.
TEST(Fftw, FortranNames) {
  const int nx = 3, ny = 4, sign = FORWARD, flags = 64;
  std::vector<R> in(24), first(24), second(24);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = R(1) / R(i + 1);
  const auto complex = [](std::vector<R>& v) { return reinterpret_cast<C*>(v.data()); };
  X(plan) p = nullptr;
  FORTRAN(plan_dft_2d)(&p, &nx, &ny, complex(in), complex(first), &sign, &flags);
  ASSERT_NE(p, nullptr);
  FORTRAN(execute)(&p);
  FORTRAN(destroy_plan)(&p);
  const X(plan) q = X(plan_dft_2d)(ny, nx, complex(in), complex(second), sign, 64);
  X(execute)(q);
  X(destroy_plan)(q);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, in);
}

}  // namespace
}  // namespace fftw_test
