// A facet of one's own is used through one locale by two threads, and changes itself.
// orders: both
#include <locale>
#include <sstream>
#include <string>

#include "../include/threads.hpp"

struct Counting : std::num_put<char> {
    mutable int calls = 0;
    iter_type do_put(iter_type out, std::ios_base &, char, long) const override {
        calls++; //~ RACE calls
        return out;
    }
};

int main() {
    std::locale locale(std::locale::classic(), new Counting);
    crowd(2, [&](int n) {
        std::ostringstream out;
        out.imbue(locale);
        turn(n + 1);
        out << 5L;
        next_turn();
    });
    std::printf("%d\n", static_cast<const Counting &>(std::use_facet<std::num_put<char>>(locale)).calls);
}
