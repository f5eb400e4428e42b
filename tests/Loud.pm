package Loud;

# In tests each warning of Perl is an error: make has all of Perl begin with this module. Where
# someone catches the error, the status is none of success.

use strict;
use warnings;

my $warned;
$SIG{__WARN__} = sub { $warned = $$; die @_ };
END { $? ||= 255 if ($warned // 0) == $$ }

1;
