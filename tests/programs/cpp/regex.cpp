// One constant expression, used by all threads at once.
#include <regex>
#include <string>

#include "../include/threads.hpp"

int main() {
    const std::regex words("([a-z]+)\\s*=\\s*([0-9]+)", std::regex::icase | std::regex::optimize);
    const std::string text = "one = 1, Two=22 , three =333, none = x";
    long sums[4] = {};
    crowd(4, [&](int n) {
        for (int i = 0; i < 3; i++) {
            for (std::sregex_iterator match(text.begin(), text.end(), words), end; match != end; ++match) {
                sums[n] += std::stol((*match)[2]);
            }
            std::smatch whole;
            sums[n] += std::regex_match(text, whole, words);
            sums[n] += std::regex_replace(text, words, "$2").size();
        }
    });
    std::printf("%ld %ld\n", sums[0], sums[3]);
}
