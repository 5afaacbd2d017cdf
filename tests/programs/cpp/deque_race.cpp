// The ends of a deque move while another thread looks; and a list's size, and its last element.
#include <deque>
#include <list>

#include "../include/threads.hpp"

std::deque<int> deque = {1, 2, 3};
std::list<int> list = {1, 2, 3};

int main() {
    int seen = 0;
    together(
        [&] {
            seen += deque.back(); //~ RACE back
            seen += deque.front(); //~ RACE front
            seen += list.size(); //~ RACE size
            seen += *list.begin();
            next_turn();
        },
        [] {
            turn(2);
            deque.push_back(4); //~ RACE back
            deque.pop_front(); //~ RACE front
            list.pop_back(); //~ RACE size
        });
    std::printf("%d %zu %zu\n", seen, deque.size(), list.size());
}
