// Contexts after exceptions.
extern "C" {
alignas(64) volatile char mem[256];
}

struct Guard {
    int i;
    ~Guard() { mem[i] = 1; }
};
[[gnu::noinline]] static void leaf(int i) { mem[i] = 1; }
[[gnu::noinline]] static void thrower(int n) {
    Guard guard{n};
    leaf(n + 1);
    if (n == 0) throw n;
    thrower(n - 4);
}
[[gnu::noinline]] static int catcher() {
    try {
        thrower(8); // expect: write1 9
                    // expect: write1 5
                    // expect: write1 1
                    // expect: write1 0
                    // expect: write1 4
                    // expect: write1 8
    } catch (int) {
        leaf(20);   // expect: write1 20
    }
    leaf(21);       // expect: write1 21
    mem[22] = 1;    // expect: write1 22
    return 0;
}

int main() {
    catcher();
    leaf(30);       // expect: write1 30
    try {
        thrower(0); // expect: write1 1
                    // expect: write1 0
    } catch (...) {
        mem[31] = 1; // expect: write1 31
    }
    leaf(32);       // expect: write1 32
    return 0;
}
