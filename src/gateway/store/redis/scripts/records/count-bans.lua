return call('ZCOUNT', KEYS[1], '(' .. clock, '+inf')
