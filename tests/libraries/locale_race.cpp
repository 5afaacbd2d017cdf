// A facet of the user's counts its calls, in all threads that print by it.
// orders: both
// report: varies
#include "../programs/include/invisible.h"
#include <cstdio>
#include <locale>
#include <thread>

namespace {

struct counting : std::numpunct<char> {
    mutable int calls = 0;
    std::string do_truename() const override {
        calls++; //~ RACE calls
        return "wahr";
    }
};

counting *facet;

void use(int number) {
    turn(number);
    facet->truename();
    next_turn();
}

} // namespace

int main() {
    facet = new counting;
    std::locale with(std::locale::classic(), facet);
    std::thread one(use, 1), two(use, 2);
    one.join();
    two.join();
    printf("%d\n", facet->calls);
}
