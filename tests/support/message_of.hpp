// What a call refuses, as text: message_of<E>(call) is the message of the E that it throws. An error of another type
// fails the test, whatever it says; no error at all is the text "no error".
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
    ADD_FAILURE() << "an error of another type: " << e.what();
    return "another error";
  }
  return "no error";
}

}  // namespace trn::testing_support

#define EXPECT_IN(part, text) EXPECT_NE(std::string(text).find(part), std::string::npos) << "got: " << (text)
