c     The gradient of u on nelt spectral elements of lx**3 points each.
c     d differentiates along a line of points; dt is its transpose.
      subroutine grad3(ur, us, ut, u, d, dt, nelt)
      integer lx
      parameter (lx=10)
      integer nelt
      real*8 ur(lx,lx,lx,nelt), us(lx,lx,lx,nelt), ut(lx,lx,lx,nelt)
      real*8 u(lx,lx,lx,nelt), d(lx,lx), dt(lx,lx)
      integer e, i, j, k, l
      do e = 1, nelt
         do k = 1, lx
            do j = 1, lx
               do i = 1, lx
                  ur(i,j,k,e) = 0.0d0
                  us(i,j,k,e) = 0.0d0
                  ut(i,j,k,e) = 0.0d0
                  do l = 1, lx
                     ur(i,j,k,e) = ur(i,j,k,e) + d(i,l)*u(l,j,k,e)
                     us(i,j,k,e) = us(i,j,k,e) + u(i,l,k,e)*dt(l,j)
                     ut(i,j,k,e) = ut(i,j,k,e) + u(i,j,l,e)*dt(l,k)
                  enddo
               enddo
            enddo
         enddo
      enddo
      end
