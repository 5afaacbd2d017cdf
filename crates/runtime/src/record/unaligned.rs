//! Numbers at any address, accessed at once.

macro_rules! number {
    ($($name:ident $ty:ty),*) => { $(
        #[repr(C, packed)]
        #[derive(Clone, Copy)]
        pub struct $name($ty);

        impl $name {
            #[inline(always)]
            pub fn new(number: $ty) -> Self {
                $name(number)
            }

            #[inline(always)]
            pub fn get(self) -> $ty {
                self.0
            }
        }
    )* };
}
number!(U16 u16, U32 u32, U64 u64);
