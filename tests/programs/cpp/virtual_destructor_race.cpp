// An object is destroyed while another thread calls it: the destructor of the base class turns it into one of the base class.
#include <new>

#include "../include/threads.hpp"

struct Base;
int ask(const Base *object);
int last;

struct Base {
    virtual ~Base() { //~ RACE table
        last = ask(this);
    }
    virtual int get() const { return 1; }
};
struct Derived : Base {
    int get() const override { return 2; }
};

[[gnu::noinline]] int ask(const Base *object) {
    return object->get();
}

alignas(Derived) char place[sizeof(Derived)];

int main() {
    int seen = 0;
    Base *object = new (place) Derived;
    together(
        [&] {
            seen = object->get(); //~ RACE table
            next_turn();
        },
        [&] {
            turn(2);
            object->~Base();
        });
    std::printf("%d %d\n", seen, last);
}
