// The polynomials of the polar factor and the sign function: X <- X (a I + b M + c M^2), M = X^T X.
//
// A step maps every singular value x to p(x) = a x + b x^3 + c x^5, the minimax approximation of 1 on
// [max(l, 0.1 top), 1.02 top], where [l, top] holds the singular values before it. Two things keep the sequence stable
// in float32, where the bare minimax composite loses up to 2e5 u:
//   the cushion 0.1 top   no large singular value is mapped near zero (Nakatsukasa and Higham's condition);
//   the margin 1.02       at the top end the slope is large, and rounding would push values out of the interval.
// kFirst takes [1e-4, 1] to [0.9986, 1.0014] in eight steps, kShort takes [0.03, 1] to [0.99985, 1.00015] in four.
// Where singular values were smaller, kShort is repeated: each round multiplies the small ones by 76.
#pragma once

#include <array>

namespace trn::solver::device {

struct SignStep {
  double a, b, c;
};

inline constexpr double kFirstLeast = 1e-4, kShortLeast = 0.03, kCushion = 0.1, kMargin = 1.02;

inline constexpr std::array<SignStep, 8> kFirst{{{5.530254486059184, -13.218132011640986, 8.918216250779892},
                                                 {3.7875770322791578, -4.2463829536910405, 1.3438778228603572},
                                                 {3.7875770322791578, -4.246382953691042, 1.3438778228603585},
                                                 {3.7875770322791587, -4.246382953691044, 1.3438778228603594},
                                                 {3.7875770322791587, -4.246382953691044, 1.3438778228603594},
                                                 {3.7875770322791587, -4.246382953691044, 1.3438778228603594},
                                                 {2.3966257465311664, -1.8973964324169281, 0.5212529216643911},
                                                 {1.8722249020722226, -1.2283217487466733, 0.35657945496252774}}};
inline constexpr std::array<SignStep, 4> kShort{{{5.530254486059184, -13.218132011640986, 8.918216250779892},
                                                 {3.627209796504783, -3.967703572249328, 1.2449985065833693},
                                                 {2.0664655203800075, -1.4169580719852255, 0.3713667715815475},
                                                 {1.8594122704152867, -1.2156481937031884, 0.35631181301978543}}};
// The Taylor polynomial of M^(-1/2) at 1: what is 1 + d in M becomes 1 + 5/16 d^3 and less.
inline constexpr SignStep kClosing{15.0 / 8, -5.0 / 4, 3.0 / 8};
// The same polynomial in terms of D = M - I: a + b M + c M^2 = (a + b + c) + (b + 2 c) D + c D^2.
constexpr SignStep about_one(const SignStep& p) { return {p.a + p.b + p.c, p.b + 2 * p.c, p.c}; }
// The polynomial of r x in terms of x.
constexpr SignStep rescaled(const SignStep& p, double r) { return {p.a * r, p.b * r * r * r, p.c * r * r * r * r * r}; }
// Values that rounding has left above the end of a schedule fit into the next one after this.
inline constexpr double kRescale = 1 / 1.003;

}  // namespace trn::solver::device
