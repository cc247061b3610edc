return pack('<d', clock) .. call('ZCOUNT', KEYS[1], '(' .. clock, '+inf')
