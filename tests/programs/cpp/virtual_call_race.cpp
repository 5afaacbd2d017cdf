// A virtual call reads the object's table pointer, which the constructor of the derived class writes.
// flags: -O2
#include <new>

#include "../include/threads.hpp"

struct Base {
    virtual int get() const { return 1; }
};
struct Derived : Base {
    Derived() {} //~ RACE table
    int get() const override { return 2; }
};

alignas(Derived) char place[sizeof(Derived)];

int main() {
    int seen = 0;
    together(
        [] {
            new (place) Derived;
            next_turn();
        },
        [&] {
            turn(2);
            seen = std::launder(reinterpret_cast<Base *>(place))->get(); //~ RACE table
        });
    std::printf("%d\n", seen);
}
