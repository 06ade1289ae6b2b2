// The planners of FFTW's interface, called as a program does, against sums in long double. Compiled once for each
// precision.
#include "fftw_case.hpp"

namespace fftw_test {
namespace {

TEST(Fftw, ComplexPlanners) {
  for (const int sign : {FORWARD, BACKWARD})
    for (const bool in_place : {false, true}) {
      for (const int n : {1, 2, 7, 12, 30, 97})
        check(
            "1d", {Form::C2C, {{n, 1, 1}}, {}, sign, {}, in_place},
            [&](Case& c) { return X(plan_dft_1d)(n, c.ci(), c.co(), sign, ESTIMATE); }, kAgain);
      const Dims two{{5, 6, 6}, {6, 1, 1}}, three{{3, 20, 20}, {4, 5, 5}, {5, 1, 1}};
      check(
          "2d", {Form::C2C, two, {}, sign, {}, in_place},
          [&](Case& c) { return X(plan_dft_2d)(5, 6, c.ci(), c.co(), sign, MEASURE); }, kAgain);
      check(
          "3d", {Form::C2C, three, {}, sign, {}, in_place},
          [&](Case& c) { return X(plan_dft_3d)(3, 4, 5, c.ci(), c.co(), sign, PATIENT | DESTROY_INPUT); }, kAgain);
      const int n3[] = {3, 4, 5}, embed[] = {9, 5, 6};
      check(
          "rank", {Form::C2C, three, {}, sign, {}, in_place},
          [&](Case& c) { return X(plan_dft)(3, n3, c.ci(), c.co(), sign, ESTIMATE); }, kAgain);
      check(
          "many, dense", {Form::C2C, three, {{4, 60, 60}}, sign, {}, in_place},
          [&](Case& c) {
            return X(plan_many_dft)(3, n3, 4, c.ci(), nullptr, 1, 60, c.co(), nullptr, 1, 60, sign, ESTIMATE);
          },
          kAgain);
      check(
          "many, embedded", {Form::C2C, {{3, 60, 60}, {4, 12, 12}, {5, 2, 2}}, {{2, 1, 1}}, sign, {}, in_place},
          [&](Case& c) { return X(plan_many_dft)(3, n3, 2, c.ci(), embed, 2, 1, c.co(), embed, 2, 1, sign, ESTIMATE); },
          kAgain);
      const Dims axes{{6, 1, 4}, {5, 6, 30}}, batch{{4, 30, 1}};
      const Case turned{Form::C2C, axes, batch, sign, {}, in_place};  // in place, both sides hold the same 120 places
      const auto a = dims<X(iodim)>(axes), b = dims<X(iodim)>(batch);
      const auto a64 = dims<X(iodim64)>(axes), b64 = dims<X(iodim64)>(batch);
      check(
          "guru", turned,
          [&](Case& c) { return X(plan_guru_dft)(2, a.data(), 1, b.data(), c.ci(), c.co(), sign, ESTIMATE); }, kAgain);
      check(
          "guru64", turned,
          [&](Case& c) { return X(plan_guru64_dft)(2, a64.data(), 1, b64.data(), c.ci(), c.co(), sign, ESTIMATE); },
          kAgain);
    }
  const X(iodim64) back{8, -3, -2};
  check(
      "negative strides", {Form::C2C, {{8, -3, -2}}, {}, FORWARD, {}, false, false, 30},
      [&](Case& c) { return X(plan_guru64_dft)(1, &back, 0, nullptr, c.ci(), c.co(), FORWARD, ESTIMATE); }, kAgain);
}

TEST(Fftw, SplitArrays) {
  const Dims axes{{4, 6, 6}, {6, 1, 1}}, batch{{3, 24, 24}};
  const auto a = dims<X(iodim)>(axes), b = dims<X(iodim)>(batch);
  const auto a64 = dims<X(iodim64)>(axes), b64 = dims<X(iodim64)>(batch);
  const auto again = [](X(plan) p, Case& c) { X(execute_split_dft)(p, c.ri(), c.ii(), c.ro(), c.io()); };
  for (const bool in_place : {false, true}) {
    const Case c2c{Form::C2C, axes, batch, FORWARD, {}, in_place, true};
    check(
        "split", c2c,
        [&](Case& c) {
          return X(plan_guru_split_dft)(2, a.data(), 1, b.data(), c.ri(), c.ii(), c.ro(), c.io(), ESTIMATE);
        },
        again);
    check(
        "split 64", c2c,
        [&](Case& c) {
          return X(plan_guru64_split_dft)(2, a64.data(), 1, b64.data(), c.ri(), c.ii(), c.ro(), c.io(), ESTIMATE);
        },
        again);
  }
  const auto again_r2c = [](X(plan) p, Case& c) { X(execute_split_dft_r2c)(p, c.ri(), c.ro(), c.io()); };
  const auto again_c2r = [](X(plan) p, Case& c) { X(execute_split_dft_c2r)(p, c.ri(), c.ii(), c.ro()); };
  const Case r2c{Form::R2C, axes, batch, FORWARD, {}, false, true},
      c2r{Form::C2R, axes, batch, BACKWARD, {}, false, true};
  check(
      "split r2c", r2c,
      [&](Case& c) { return X(plan_guru_split_dft_r2c)(2, a.data(), 1, b.data(), c.ri(), c.ro(), c.io(), ESTIMATE); },
      again_r2c);
  check(
      "split r2c 64", r2c,
      [&](Case& c) {
        return X(plan_guru64_split_dft_r2c)(2, a64.data(), 1, b64.data(), c.ri(), c.ro(), c.io(), ESTIMATE);
      },
      again_r2c);
  check(
      "split c2r", c2r,
      [&](Case& c) { return X(plan_guru_split_dft_c2r)(2, a.data(), 1, b.data(), c.ri(), c.ii(), c.ro(), ESTIMATE); },
      again_c2r);
  check(
      "split c2r 64", c2r,
      [&](Case& c) {
        return X(plan_guru64_split_dft_c2r)(2, a64.data(), 1, b64.data(), c.ri(), c.ii(), c.ro(), ESTIMATE);
      },
      again_c2r);
}

TEST(Fftw, RealPlanners) {
  for (const bool in_place : {false, true})
    for (const int n : {1, 2, 8, 9, 30, 97}) {
      const std::ptrdiff_t half = n / 2 + 1, real = in_place ? 2 * half : n;
      check(
          "r2c 1d", {Form::R2C, {{n, 1, 1}}, {}, FORWARD, {}, in_place},
          [&](Case& c) { return X(plan_dft_r2c_1d)(n, c.ri(), c.co(), ESTIMATE); }, kAgainR2C);
      check(
          "c2r 1d", {Form::C2R, {{n, 1, 1}}, {}, BACKWARD, {}, in_place},
          [&](Case& c) { return X(plan_dft_c2r_1d)(n, c.ci(), c.ro(), ESTIMATE); }, kAgainC2R);
      const Dims r2{{4, real, half}, {n, 1, 1}}, c2{{4, half, real}, {n, 1, 1}};
      check(
          "r2c 2d", {Form::R2C, r2, {}, FORWARD, {}, in_place},
          [&](Case& c) { return X(plan_dft_r2c_2d)(4, n, c.ri(), c.co(), ESTIMATE); }, kAgainR2C);
      check(
          "c2r 2d", {Form::C2R, c2, {}, BACKWARD, {}, in_place},
          [&](Case& c) { return X(plan_dft_c2r_2d)(4, n, c.ci(), c.ro(), ESTIMATE); }, kAgainC2R);
      const Dims r3{{2, 4 * real, 4 * half}, r2[0], r2[1]}, c3{{2, 4 * half, 4 * real}, c2[0], c2[1]};
      check(
          "r2c 3d", {Form::R2C, r3, {}, FORWARD, {}, in_place},
          [&](Case& c) { return X(plan_dft_r2c_3d)(2, 4, n, c.ri(), c.co(), ESTIMATE); }, kAgainR2C);
      check(
          "c2r 3d", {Form::C2R, c3, {}, BACKWARD, {}, in_place},
          [&](Case& c) { return X(plan_dft_c2r_3d)(2, 4, n, c.ci(), c.ro(), ESTIMATE); }, kAgainC2R);
      const int ns[] = {4, n};
      check(
          "r2c rank", {Form::R2C, r2, {}, FORWARD, {}, in_place},
          [&](Case& c) { return X(plan_dft_r2c)(2, ns, c.ri(), c.co(), ESTIMATE); }, kAgainR2C);
      check(
          "c2r rank", {Form::C2R, c2, {}, BACKWARD, {}, in_place},
          [&](Case& c) { return X(plan_dft_c2r)(2, ns, c.ci(), c.ro(), ESTIMATE); }, kAgainC2R);
      const int rd = static_cast<int>(4 * real), cd = static_cast<int>(4 * half);
      check(
          "r2c many", {Form::R2C, r2, {{3, rd, cd}}, FORWARD, {}, in_place},
          [&](Case& c) {
            return X(plan_many_dft_r2c)(2, ns, 3, c.ri(), nullptr, 1, rd, c.co(), nullptr, 1, cd, ESTIMATE);
          },
          kAgainR2C);
      check(
          "c2r many", {Form::C2R, c2, {{3, cd, rd}}, BACKWARD, {}, in_place},
          [&](Case& c) {
            return X(plan_many_dft_c2r)(2, ns, 3, c.ci(), nullptr, 1, cd, c.ro(), nullptr, 1, rd, ESTIMATE);
          },
          kAgainC2R);
    }
  // Strides everywhere, out of place and in place where the sides lie in other bytes.
  const Dims axes{{4, 40, 30}, {9, 2, 3}}, batch{{2, 1, 1}};
  const auto a = dims<X(iodim)>(axes), b = dims<X(iodim)>(batch);
  const auto a64 = dims<X(iodim64)>(axes), b64 = dims<X(iodim64)>(batch);
  for (const bool in_place : {false, true}) {
    const Case r{Form::R2C, axes, batch, FORWARD, {}, in_place}, c2r{Form::C2R, axes, batch, BACKWARD, {}, in_place};
    check(
        "guru r2c", r,
        [&](Case& c) { return X(plan_guru_dft_r2c)(2, a.data(), 1, b.data(), c.ri(), c.co(), ESTIMATE); }, kAgainR2C);
    check(
        "guru64 r2c", r,
        [&](Case& c) { return X(plan_guru64_dft_r2c)(2, a64.data(), 1, b64.data(), c.ri(), c.co(), ESTIMATE); },
        kAgainR2C);
    check(
        "guru c2r", c2r,
        [&](Case& c) { return X(plan_guru_dft_c2r)(2, a.data(), 1, b.data(), c.ci(), c.ro(), ESTIMATE); }, kAgainC2R);
    check(
        "guru64 c2r", c2r,
        [&](Case& c) { return X(plan_guru64_dft_c2r)(2, a64.data(), 1, b64.data(), c.ci(), c.ro(), ESTIMATE); },
        kAgainC2R);
  }
}

TEST(Fftw, RealToRealKinds) {
  for (const bool in_place : {false, true})
    for (int kind = R2HC; kind <= RODFT11; ++kind) {
      for (const int n : {1, 2, 3, 4, 5, 8, 9, 16, 31}) {
        if (kind == REDFT00 && n < 2) continue;
        check(("kind " + std::to_string(kind) + ", n " + std::to_string(n)).c_str(),
              {Form::R2R, {{n, 1, 1}}, {}, 0, {kind}, in_place},
              [&](Case& c) { return X(plan_r2r_1d)(n, c.ri(), c.ro(), kind, ESTIMATE); }, kAgainR2R);
      }
      const int other = (kind + 5) % 11, third = (kind + 8) % 11;
      const Dims two{{5, 6, 6}, {6, 1, 1}}, three{{3, 30, 30}, {5, 6, 6}, {6, 1, 1}};
      const int n2[] = {5, 6}, kinds2[] = {kind, other};
      check(
          "2d", {Form::R2R, two, {}, 0, {kind, other}, in_place},
          [&](Case& c) { return X(plan_r2r_2d)(5, 6, c.ri(), c.ro(), kind, other, ESTIMATE); }, kAgainR2R);
      check(
          "3d", {Form::R2R, three, {}, 0, {kind, other, third}, in_place},
          [&](Case& c) { return X(plan_r2r_3d)(3, 5, 6, c.ri(), c.ro(), kind, other, third, ESTIMATE); }, kAgainR2R);
      check(
          "rank", {Form::R2R, two, {}, 0, {kind, other}, in_place},
          [&](Case& c) { return X(plan_r2r)(2, n2, c.ri(), c.ro(), kinds2, ESTIMATE); }, kAgainR2R);
      check(
          "many", {Form::R2R, {{5, 18, 18}, {6, 3, 3}}, {{3, 1, 1}}, 0, {kind, other}, in_place},
          [&](Case& c) {
            return X(plan_many_r2r)(2, n2, 3, c.ri(), nullptr, 3, 1, c.ro(), nullptr, 3, 1, kinds2, ESTIMATE);
          },
          kAgainR2R);
      const Dims axes{{5, 6, 1}, {6, 1, 5}};
      const auto a = dims<X(iodim)>(axes);
      const auto a64 = dims<X(iodim64)>(axes);
      check(
          "guru", {Form::R2R, axes, {}, 0, {kind, other}, in_place},
          [&](Case& c) { return X(plan_guru_r2r)(2, a.data(), 0, nullptr, c.ri(), c.ro(), kinds2, ESTIMATE); },
          kAgainR2R);
      check(
          "guru64", {Form::R2R, axes, {}, 0, {kind, other}, in_place},
          [&](Case& c) { return X(plan_guru64_r2r)(2, a64.data(), 0, nullptr, c.ri(), c.ro(), kinds2, ESTIMATE); },
          kAgainR2R);
    }
}

TEST(Fftw, RankZeroCopiesAndTransposes) {
  const Dims batch{{3, 1, 4}, {4, 3, 1}};
  const auto b = dims<X(iodim64)>(batch);
  for (const bool in_place : {false, true}) {
    check(
        "c2c", {Form::C2C, {}, batch, FORWARD, {}, in_place},
        [&](Case& c) { return X(plan_guru64_dft)(0, nullptr, 2, b.data(), c.ci(), c.co(), FORWARD, ESTIMATE); },
        kAgain);
    check(
        "r2r", {Form::R2R, {}, batch, 0, {}, in_place},
        [&](Case& c) { return X(plan_guru64_r2r)(0, nullptr, 2, b.data(), c.ri(), c.ro(), nullptr, ESTIMATE); },
        kAgainR2R);
  }
}

}  // namespace
}  // namespace fftw_test
