// What a call refuses, as text: message_of<E>(call) is the message of the E that it throws, and says so when it throws
// something else or nothing.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

namespace trn::testing_support {

template <class E, class F> std::string message_of(F call) {
  try {
    call();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another error: ") + e.what();
  }
  return "no error";
}

}  // namespace trn::testing_support

#define EXPECT_IN(part, text) EXPECT_NE(std::string(text).find(part), std::string::npos) << "got: " << (text)
