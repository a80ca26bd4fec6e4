"""What to pin, why, and until when.

`bisection` reads what a bisect run has found, `fitting` what fits together; `choose` weighs answers (pure), `cost` says
what an edit rebuilds, `holds` and `comments` write a decision down. `model` is what all of them give.
"""
